import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { Choices } from '../api/reads-making.ts'
import type { Draft } from './draft.ts'
import type { FieldSpec } from './fields.ts'
import { newDatabase, newJob } from './new-data-and-jobs.ts'
import { newChart, newStack } from './new-infrastructure.ts'
import {
  firstImage,
  freshPort,
  imageFields,
  nameField,
  portsField,
  repositoryFields,
  resourceFields,
} from './service-parts.ts'

/** The form of a new service: the settings that are needed. All others have the API's defaults. */
export interface NewService {
  readonly source: string
  readonly about: string
  fields(choices: Choices, draft: Draft): readonly FieldSpec[]
  initial(choices: Choices): Draft
}

const longRunning = { name: '', cpu: 500, memory: 512, ports: [freshPort] }

/** The sources of new services, by the kind that each makes. */
export const newServices: Readonly<Record<KindName, NewService>> = {
  application: {
    source: 'Repository',
    about: 'An application that is built from a Dockerfile in a git repository.',
    fields: (choices) => [
      nameField,
      ...repositoryFields('git_repository', choices),
      {
        path: 'dockerfile_path',
        label: 'Dockerfile',
        type: 'text',
        hint: 'Below the root path.',
        placeholder: 'Dockerfile',
      },
      portsField,
      ...resourceFields,
      { path: 'auto_deploy', label: 'Deploy each push to the branch', type: 'check' },
    ],
    initial: () => ({ ...longRunning, git_repository: { url: '' }, dockerfile_path: 'Dockerfile', auto_deploy: true }),
  },
  container: {
    source: 'Image',
    about: 'A container that runs an image of a registry.',
    fields: (choices) => [nameField, ...imageFields('', choices), portsField, ...resourceFields],
    initial: (choices) => ({ ...longRunning, ...firstImage(choices) }),
  },
  database: newDatabase,
  job: newJob,
  helm: newChart,
  terraform: newStack,
}
