import { Application, ApplicationCreate, ApplicationEdit } from './application.ts'
import { Container, ContainerCreate, ContainerEdit } from './container.ts'
import { Database, DatabaseCreate, DatabaseEdit } from './database.ts'
import { Helm, HelmCreate, HelmEdit } from './helm.ts'
import { Job, JobCreate, JobEdit } from './job.ts'
import type { Shape } from './shapes.ts'
import { Terraform, TerraformCreate, TerraformEdit } from './terraform.ts'

/**
 * The table of kinds of services, one row a kind. The rest of the API does not distinguish kinds.
 */
export const serviceKinds = {
  application: {
    type: 'APPLICATION',
    /** What it becomes on an engine. An engine without this shape does not run the kind. */
    shape: 'long-running',
    /** Whether its image is always built from source code. */
    isBuilt: true,
    noun: 'Application',
    /**
     * The noun in the names of operations that public clients know without one for applications.
     */
    short: '',
    /** The noun in the name of the operation that lists them. */
    listed: 'Application',
    record: Application,
    create: ApplicationCreate,
    edit: ApplicationEdit,
    defaultStage: 'DEFAULT APPLICATION',
    /** The list of this kind in the statuses of an environment. */
    plural: 'applications',
  },
  container: {
    type: 'CONTAINER',
    shape: 'long-running',
    isBuilt: false,
    noun: 'Container',
    short: 'Container',
    listed: 'Container',
    record: Container,
    create: ContainerCreate,
    edit: ContainerEdit,
    defaultStage: 'DEFAULT CONTAINER',
    plural: 'containers',
  },
  database: {
    type: 'DATABASE',
    shape: 'long-running',
    isBuilt: false,
    noun: 'Database',
    short: 'Database',
    listed: 'Database',
    record: Database,
    create: DatabaseCreate,
    edit: DatabaseEdit,
    defaultStage: 'DEFAULT DATABASE',
    plural: 'databases',
  },
  job: {
    type: 'JOB',
    shape: 'task',
    isBuilt: false,
    noun: 'Job',
    short: 'Job',
    listed: 'Jobs',
    record: Job,
    create: JobCreate,
    edit: JobEdit,
    defaultStage: 'DEFAULT JOB',
    plural: 'jobs',
  },
  helm: {
    type: 'HELM',
    shape: 'chart',
    isBuilt: false,
    noun: 'Helm',
    short: 'Helm',
    listed: 'Helms',
    record: Helm,
    create: HelmCreate,
    edit: HelmEdit,
    defaultStage: 'DEFAULT APPLICATION',
    plural: 'helms',
  },
  terraform: {
    type: 'TERRAFORM',
    shape: 'stack',
    isBuilt: false,
    noun: 'Terraform',
    short: 'Terraform',
    listed: 'Terraforms',
    record: Terraform,
    create: TerraformCreate,
    edit: TerraformEdit,
    defaultStage: 'DEFAULT JOB',
    plural: 'terraforms',
  },
} as const

export type KindName = keyof typeof serviceKinds
export type Kind = (typeof serviceKinds)[KindName]
export type KindField = keyof Kind

/** Returns one field of a kind with the type that this kind has. */
export const fieldOf = <const N extends KindName, const F extends KindField>(
  name: N,
  field: F,
): (typeof serviceKinds)[N][F] => serviceKinds[name][field]

/** The keys of the table, in its order. Object.keys loses their type. */
export const kindNames = Object.keys(serviceKinds) as KindName[]

/** The stages of a new environment, in order. */
export const defaultStages = ['DEFAULT DATABASE', 'DEFAULT JOB', 'DEFAULT CONTAINER', 'DEFAULT APPLICATION'] as const

/** Returns the shape of a kind, as an engine knows it. */
export const shapeOf = (kind: KindName): Shape => serviceKinds[kind].shape

/** Kinds whose programs run to completion. */
export const taskKinds: readonly KindName[] = kindNames.filter((kind) => ['task', 'stack'].includes(shapeOf(kind)))
export const isTaskKind = (kind: KindName): boolean => taskKinds.includes(kind)

/** Whether a deployment of the kind makes a plan and applies it. */
export const isStackKind = (kind: KindName): boolean => shapeOf(kind) === 'stack'

/** Kinds that Helm installs. */
export const chartKinds: readonly KindName[] = kindNames.filter((kind) => shapeOf(kind) === 'chart')
export const isChartKind = (kind: KindName): boolean => shapeOf(kind) === 'chart'

/** Kinds whose releases an engine starts as replicas of one program. */
export const isLongRunningKind = (kind: KindName): boolean => shapeOf(kind) === 'long-running'
