import { type Draft, listAt } from './draft.ts'
import { type FieldSpec, optionsOf } from './fields.ts'
import { pick } from './record.ts'

interface Named {
  readonly id: string
  readonly name: string
}

const naming: readonly FieldSpec[] = [
  { path: 'name', label: 'Name', type: 'text', isRequired: true, placeholder: 'production' },
  { path: 'description', label: 'Description', type: 'text' },
]
const providers = ['ON_PREMISE', 'AWS', 'SCW', 'GCP', 'AZURE', 'DO', 'OVH', 'CIVO', 'HETZNER', 'ORACLE', 'IBM'] as const
const production: FieldSpec = { path: 'production', label: 'For production', type: 'check' }

/** The form of a new cluster. */
export const newClusterFields: readonly FieldSpec[] = [
  ...naming,
  { path: 'cloud_provider', label: 'Provider', type: 'select', options: optionsOf(...providers) },
  {
    path: 'region',
    label: 'Region',
    type: 'text',
    isRequired: true,
    hint: 'A name of yours, or the one of the cloud.',
  },
  {
    path: 'kubernetes',
    label: 'Kubernetes',
    type: 'select',
    hint: 'The platform connects to a cluster that you run. It creates nothing on a cloud.',
    options: [
      { value: 'SELF_MANAGED', label: 'runs already, and has a kubeconfig' },
      { value: 'MANAGED', label: 'only a record, on which nothing can be deployed' },
    ],
  },
  production,
]
export const newClusterValues: Draft = {
  name: '',
  cloud_provider: 'ON_PREMISE',
  region: '',
  kubernetes: 'SELF_MANAGED',
  production: false,
}

/** The form of an existing cluster. Provider and kind of Kubernetes cannot change. */
export const clusterFields = (labelsGroups: readonly Named[] | undefined): readonly FieldSpec[] => [
  ...naming,
  { path: 'region', label: 'Region', type: 'text', isRequired: true },
  { path: 'min_running_nodes', label: 'Least nodes', type: 'number' },
  { path: 'max_running_nodes', label: 'Most nodes', type: 'number' },
  { path: 'disk_size', label: 'Disk of a node', type: 'number', hint: 'GB.' },
  { path: 'instance_type', label: 'Type of the machines', type: 'text', keepsEmpty: true },
  { path: 'ssh_keys', label: 'SSH keys', type: 'words', hint: 'Public keys, one a line.' },
  production,
  { path: 'keda.enabled', label: 'KEDA scales its services', type: 'check' },
  {
    path: 'labels_groups',
    label: 'Groups of labels',
    type: 'choices',
    hint: 'The namespaces of its environments have these labels.',
    options: (labelsGroups ?? []).map(({ id: value, name: label }) => ({ value, label })),
    areReferences: true,
    none: labelsGroups ? 'The organization has none. Its settings create them.' : 'Reading …',
  },
]

const kept = ['name', 'description', 'region', 'production', 'keda', 'ssh_keys'] as const
const nodes = ['min_running_nodes', 'max_running_nodes', 'disk_size', 'instance_type'] as const

/** Pure: the values of the form. */
export const clusterValues = (record: Draft): Draft => ({
  ...pick(record, ...kept, ...nodes),
  labels_groups: listAt(record, 'labels_groups').map((group) => pick(group, 'id')),
})
