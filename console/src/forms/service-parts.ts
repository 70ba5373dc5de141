import type { Choices, Named } from '../api/reads-making.ts'
import type { Draft } from './draft.ts'
import { type FieldSpec, type ListSpec, type Option, optionsOf } from './fields.ts'
import * as suggest from './suggest.ts'

// Fields that several kinds of services share.

export const nameField: FieldSpec = { path: 'name', label: 'Name', type: 'text', isRequired: true, placeholder: 'shop' }
export const descriptionField: FieldSpec = { path: 'description', label: 'Description', type: 'text' }

const named = (list: readonly Named[]): readonly Option[] => list.map(({ id, name }) => ({ value: id, label: name }))

/** A git repository at a path of the body. */
export function repositoryFields(path: string, choices: Choices): readonly FieldSpec[] {
  const { gitTokens, repositories } = choices
  return [
    {
      path: `${path}.url`,
      label: 'Repository',
      type: 'text',
      isRequired: true,
      placeholder: 'https://github.com/team/shop.git',
      suggestions: repositories,
      suggest: suggest.repositories(choices),
      hint: `The built-in git host has repositories at ${location.origin}/git/NAME.git. Push with an API token.`,
    },
    {
      path: `${path}.branch`,
      label: 'Branch',
      type: 'text',
      hint: 'Empty: main, else master, else the default.',
      suggest: suggest.branches(choices),
    },
    {
      path: `${path}.root_path`,
      label: 'Root path',
      type: 'text',
      hint: 'The directory of the service.',
      placeholder: '/',
      suggest: suggest.directories(choices),
    },
    {
      path: `${path}.git_token_id`,
      label: 'Git token',
      type: 'select',
      hint: 'For private repositories elsewhere.',
      options: [{ value: '', label: 'none' }, ...named(gitTokens)],
    },
  ]
}

/** An image of a registry. `path` ends with a dot, or is empty. */
export const imageFields = (path: string, choices: Choices): readonly FieldSpec[] => [
  { path: `${path}registry_id`, label: 'Registry', type: 'select', options: named(choices.registries) },
  {
    path: `${path}image_name`,
    label: 'Image',
    type: 'text',
    isRequired: true,
    placeholder: 'library/nginx',
    suggest: suggest.images(choices),
  },
  {
    path: `${path}tag`,
    label: 'Tag',
    type: 'text',
    isRequired: true,
    placeholder: '1.27',
    suggest: suggest.tags(choices),
  },
]
export const firstImage = ({ registries }: Choices): Draft => ({
  registry_id: registries[0]?.id,
  image_name: '',
  tag: '',
})

/** A chart of a Helm repository. */
export const helmRepositoryFields = (path: string, choices: Choices): readonly FieldSpec[] => [
  { path: `${path}.repository`, label: 'Helm repository', type: 'select', options: named(choices.helmRepositories) },
  {
    path: `${path}.chart_name`,
    label: 'Chart',
    type: 'text',
    isRequired: true,
    suggest: suggest.charts(choices),
  },
  {
    path: `${path}.chart_version`,
    label: 'Version',
    type: 'text',
    isRequired: true,
    suggest: suggest.chartVersions(choices),
  },
]

/** The program of an image. `when` completes the labels, and begins with a space. */
export const programFields = (path: string, when = ''): readonly FieldSpec[] => [
  { path: `${path}entrypoint`, label: `Entrypoint${when}`, type: 'text', hint: 'Empty: that of the image.' },
  { path: `${path}arguments`, label: `Arguments${when}`, type: 'words', hint: 'One a line.' },
]

export const resourceFields: readonly FieldSpec[] = [
  { path: 'cpu', label: 'CPU', type: 'number', hint: 'Thousandths of a core.' },
  { path: 'memory', label: 'Memory', type: 'number', hint: 'MB.' },
]

export const freshPort = { internal_port: 8080, protocol: 'HTTP', publicly_accessible: true }
export const portsField: ListSpec = {
  path: 'ports',
  label: 'Ports',
  type: 'list',
  noun: 'port',
  hint: 'A public HTTP port gets a URL. The service is ready when its first port accepts a connection.',
  fresh: freshPort,
  fields: [
    { path: 'internal_port', label: 'Port of the program', type: 'number' },
    { path: 'protocol', label: 'Protocol', type: 'select', options: optionsOf('HTTP', 'TCP', 'UDP', 'GRPC') },
    { path: 'publicly_accessible', label: 'Public', type: 'check' },
  ],
}

/** The groups of labels and annotations of a service. */
export const groupFields = ({ labelsGroups, annotationsGroups }: Choices): readonly FieldSpec[] => [
  {
    path: 'labels_groups',
    label: 'Groups of labels',
    type: 'choices',
    options: named(labelsGroups),
    areReferences: true,
    none: 'The organization has none. Its settings create them.',
  },
  {
    path: 'annotations_groups',
    label: 'Groups of annotations',
    type: 'choices',
    options: named(annotationsGroups),
    areReferences: true,
    none: 'The organization has none. Its settings create them.',
  },
]
export const groupsOfTags = (choices: Choices) => ({ title: 'Labels and annotations', fields: groupFields(choices) })
