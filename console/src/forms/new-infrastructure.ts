import type { Choices } from '../api/reads-making.ts'
import type { Json } from './draft.ts'
import { type FieldSpec, type ListSpec, optionsOf } from './fields.ts'
import type { NewService } from './new-services.ts'
import { helmRepositoryFields, nameField, repositoryFields } from './service-parts.ts'

export const newChart: NewService = {
  source: 'Chart',
  about: 'A Helm chart, on a connected cluster of Kubernetes.',
  fields: (choices) => [
    nameField,
    {
      path: 'source',
      label: 'Source',
      type: 'shape',
      shapes: [
        {
          label: 'git repository',
          mark: 'git_repository',
          fresh: { git_repository: { url: '' } },
          fields: repositoryFields('git_repository', choices),
        },
        {
          label: 'Helm repository',
          mark: 'helm_repository',
          fresh: {
            helm_repository: { repository: choices.helmRepositories[0]?.id, chart_name: '', chart_version: '' },
          },
          fields: helmRepositoryFields('helm_repository', choices),
        },
      ],
    },
    {
      path: 'values_override.file.raw.values.0.content',
      label: 'Values',
      type: 'long',
      keepsEmpty: true,
      hint: 'YAML. qovery.env.KEY stands for a variable or secret of the service.',
    },
    {
      path: 'allow_cluster_wide_resources',
      label: 'Allow objects outside of its namespace, and Services that open addresses',
      type: 'check',
    },
  ],
  initial: () => ({
    name: '',
    source: { git_repository: { url: '' } },
    values_override: { file: { raw: { values: [{ name: 'values.yaml', content: '' }] } } },
    allow_cluster_wide_resources: false,
  }),
}

export const variablesField: ListSpec = {
  path: 'terraform_variables_source.tf_vars',
  label: 'Variables of the stack',
  type: 'list',
  noun: 'variable',
  fresh: { key: '', value: '', secret: false },
  fields: [
    { path: 'key', label: 'Key', type: 'text', isRequired: true },
    { path: 'value', label: 'Value', type: 'text', keepsEmpty: true },
    { path: 'secret', label: 'Secret', type: 'check' },
  ],
}

export const newStack: NewService = {
  source: 'Stack',
  about: 'Terraform or OpenTofu files in a git repository. The platform keeps their state.',
  fields: (choices, { engine }) => [
    nameField,
    ...repositoryFields('terraform_files_source.git_repository', choices),
    {
      path: 'engine',
      label: 'Engine',
      type: 'select',
      options: [
        { value: 'TERRAFORM', label: 'Terraform', also: versionOf(choices.engines, 'TERRAFORM') },
        { value: 'OPEN_TOFU', label: 'OpenTofu', also: versionOf(choices.engines, 'OPEN_TOFU') },
      ],
    },
    versionField(choices.engines, engine),
    variablesField,
  ],
  initial: ({ engines }) => ({
    name: '',
    terraform_files_source: { git_repository: { url: '' } },
    terraform_variables_source: { tf_vars: [], tf_var_file_paths: [] },
    backend: { kubernetes: {} },
    engine: 'TERRAFORM',
    ...versionOf(engines, 'TERRAFORM'),
  }),
}

/** Pure: the newest version of an engine. An engine without one is named by the API. */
const versionOf = (engines: readonly { readonly engine: string; readonly version: string }[], engine: string) => ({
  provider_version: { explicit_version: engines.find((one) => one.engine === engine)?.version ?? '' },
})

/** The version of an engine, among the versions that have an image. */
export function versionField(engines: Choices['engines'], engine: Json): FieldSpec {
  const versions = engines.filter((one) => one.engine === engine).map(({ version }) => version)
  const about = { path: 'provider_version.explicit_version', label: 'Version' }
  return versions.length > 0
    ? { ...about, type: 'select', options: optionsOf(...versions) }
    : { ...about, type: 'text', keepsEmpty: true, hint: 'The operator has no image of this engine yet.' }
}
