import { autoscalingField, autoscalingOf } from './autoscaling.ts'
import { type Draft, valueAt } from './draft.ts'
import { type FieldSpec, optionsOf } from './fields.ts'
import { probeField } from './probes.ts'
import { groupsOf, imageOf, pick, repositoryOf } from './record.ts'
import { scheduleFields } from './schedule.ts'
import {
  descriptionField,
  groupsOfTags,
  imageFields,
  nameField,
  portsField,
  programFields,
  repositoryFields,
  resourceFields,
} from './service-parts.ts'
import type { Settings } from './settings.ts'

const general = { title: 'General', fields: [nameField, descriptionField] }
const autoDeploy = (isBuilt: boolean): FieldSpec => ({
  path: 'auto_deploy',
  label: isBuilt ? 'Deploy each push to the branch' : 'Deploy tags that the registry reports',
  type: 'check',
})
const dockerfile = (path: string): readonly FieldSpec[] => [
  { path: `${path}dockerfile_path`, label: 'Dockerfile', type: 'text', hint: 'Below the root path.' },
  { path: `${path}docker_target_build_stage`, label: 'Build stage', type: 'text', hint: 'Empty: the last one.' },
]
const probes = {
  title: 'Probes',
  fields: [
    probeField('healthchecks.readiness_probe', 'Readiness', 'A replica gets requests while it succeeds.'),
    probeField('healthchecks.liveness_probe', 'Liveness', 'A replica is restarted if it fails.'),
  ],
}

const storageField: FieldSpec = {
  path: 'storage',
  label: 'Volumes',
  type: 'list',
  noun: 'volume',
  hint: 'They outlive deployments and stops.',
  fresh: { type: 'FAST_SSD', size: 10, mount_point: '' },
  fields: [
    { path: 'mount_point', label: 'Path in the program', type: 'text', isRequired: true, placeholder: '/data' },
    { path: 'size', label: 'Size in GB', type: 'number' },
  ],
}

const longRunningNames = [
  'name',
  'description',
  'auto_deploy',
  'cpu',
  'memory',
  'min_running_instances',
  'max_running_instances',
  'entrypoint',
  'arguments',
  'ports',
  'storage',
  'healthchecks',
]

/** The settings of applications and containers, which differ in their source. */
export const longRunningSettings = (kind: 'application' | 'container'): Settings => ({
  groups: (choices) => [
    general,
    {
      title: 'Source',
      fields: [
        ...(kind === 'application'
          ? [...repositoryFields('git_repository', choices), ...dockerfile('')]
          : imageFields('', choices)),
        autoDeploy(kind === 'application'),
      ],
    },
    { title: 'Program', fields: programFields('') },
    {
      title: 'Resources',
      fields: [
        ...resourceFields,
        { path: 'min_running_instances', label: 'Least instances', type: 'number', hint: '0: it sleeps while idle.' },
        { path: 'max_running_instances', label: 'Most instances', type: 'number', hint: '-1: as many as fit.' },
        autoscalingField,
      ],
    },
    { title: 'Ports', fields: [portsField] },
    { title: 'Storage', fields: [storageField] },
    probes,
    groupsOfTags(choices),
  ],
  draft: (record) => ({
    ...pick(record, ...longRunningNames),
    ...groupsOf(record),
    ...autoscalingOf(record),
    ...(kind === 'application'
      ? {
          git_repository: repositoryOf(record, 'git_repository'),
          ...pick(record, 'dockerfile_path', 'docker_target_build_stage'),
        }
      : imageOf(record)),
  }),
})

export const databaseSettings: Settings = {
  groups: (choices, { type }) => [
    general,
    {
      title: 'Server',
      fields: [
        {
          path: 'version',
          label: 'Version',
          type: 'select',
          options: optionsOf(...(choices.databases.find((one) => one.type === type)?.versions ?? [])),
        },
        {
          path: 'accessibility',
          label: 'Access',
          type: 'select',
          options: [
            { value: 'PRIVATE', label: 'services of the environment' },
            { value: 'PUBLIC', label: 'also from outside, on a port of the machine' },
          ],
        },
      ],
    },
    {
      title: 'Resources',
      fields: [...resourceFields, { path: 'storage', label: 'Storage', type: 'number', hint: 'GB. It can only grow.' }],
    },
    groupsOfTags(choices),
  ],
  draft: (record) => ({
    ...pick(record, 'name', 'description', 'type', 'version', 'accessibility', 'cpu', 'memory', 'storage'),
    ...groupsOf(record),
  }),
}

export const jobSettings: Settings = {
  groups: (choices, draft) => [
    general,
    {
      title: 'Source',
      fields: [
        ...(valueAt(draft, 'source.docker')
          ? [...repositoryFields('source.docker.git_repository', choices), ...dockerfile('source.docker.')]
          : imageFields('source.image.', choices)),
        autoDeploy(Boolean(valueAt(draft, 'source.docker'))),
      ],
    },
    { title: 'When it runs', fields: scheduleFields(draft) },
    {
      title: 'Resources',
      fields: [
        ...resourceFields,
        { path: 'max_duration_seconds', label: 'Longest run', type: 'number', hint: 'Seconds. 0: 24 days.' },
        { path: 'max_nb_restart', label: 'Retries of a failed run', type: 'number' },
      ],
    },
    groupsOfTags(choices),
  ],
  draft: (record) => ({
    ...pick(record, 'name', 'description', 'auto_deploy', 'cpu', 'memory', 'max_duration_seconds', 'max_nb_restart'),
    ...groupsOf(record),
    schedule: valueAt(record, 'schedule'),
    source: jobSource(record),
  }),
}

const jobSource = (record: Draft): Draft =>
  valueAt(record, 'source.docker')
    ? {
        docker: {
          ...pick(valueAt(record, 'source.docker'), 'dockerfile_path', 'dockerfile_raw', 'docker_target_build_stage'),
          git_repository: repositoryOf(record, 'source.docker.git_repository'),
        },
      }
    : { image: imageOf(valueAt(record, 'source.image')) }
