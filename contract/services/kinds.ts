import { Application, ApplicationCreate, ApplicationEdit } from './application.ts'

/** The only place where the API tells kinds apart: a kind is a row. */
export const serviceKinds = {
  application: {
    type: 'APPLICATION',
    noun: 'Application',
    record: Application,
    create: ApplicationCreate,
    edit: ApplicationEdit,
    defaultStage: 'DEFAULT APPLICATION',
    defaultIcon: 'app://qovery-console/application',
    /** The list of environment statuses that it stands in. */
    plural: 'applications',
    /** Made from a git repository: has a build, commits and a Dockerfile. */
    isBuilt: true,
  },
} as const

export type KindName = keyof typeof serviceKinds
export type Kind = (typeof serviceKinds)[KindName]

/** The stages that every new environment has, in their order. */
export const defaultStages = ['DEFAULT DATABASE', 'DEFAULT JOB', 'DEFAULT CONTAINER', 'DEFAULT APPLICATION'] as const
