import { chartSource } from './chart-values.ts'
import { valueAt } from './draft.ts'
import type { FieldSpec } from './fields.ts'
import { variablesField, versionField } from './new-infrastructure.ts'
import { pick, repositoryOf } from './record.ts'
import { descriptionField, helmRepositoryFields, nameField, repositoryFields } from './service-parts.ts'
import type { Settings } from './settings.ts'

const general = { title: 'General', fields: [nameField, descriptionField] }
const timeout: FieldSpec = { path: 'timeout_sec', label: 'Timeout', type: 'number', hint: 'Seconds.' }

export const chartSettings: Settings = {
  groups: (choices, draft) => [
    general,
    {
      title: 'Source',
      fields: [
        ...(valueAt(draft, 'source.git_repository')
          ? repositoryFields('source.git_repository', choices)
          : helmRepositoryFields('source.helm_repository', choices)),
        { path: 'auto_deploy', label: 'Deploy each push to the branch', type: 'check' },
      ],
    },
    {
      title: 'Installation',
      fields: [
        timeout,
        { path: 'arguments', label: 'Arguments of Helm', type: 'words', hint: 'One a line.' },
        {
          path: 'allow_cluster_wide_resources',
          label: 'Allow objects outside of its namespace, and Services that open addresses',
          type: 'check',
        },
      ],
    },
  ],
  draft: (record) => ({
    ...pick(record, 'name', 'description', 'auto_deploy', 'timeout_sec', 'arguments'),
    ...pick(record, 'allow_cluster_wide_resources'),
    source: chartSource(record),
  }),
}

const engineField: FieldSpec = {
  path: 'engine',
  label: 'Engine',
  type: 'select',
  options: [
    { value: 'TERRAFORM', label: 'Terraform' },
    { value: 'OPEN_TOFU', label: 'OpenTofu' },
  ],
}

const backendField: FieldSpec = {
  path: 'backend',
  label: 'Place of the state',
  type: 'shape',
  hint: 'After a change, “Move the state” on the page of the stack moves it there.',
  shapes: [
    { label: 'this platform', mark: 'kubernetes', fresh: { kubernetes: {} }, fields: [] },
    { label: 'the backend that the files name', mark: 'user_provided', fresh: { user_provided: {} }, fields: [] },
  ],
}

export const stackSettings: Settings = {
  groups: (choices, { engine }) => [
    general,
    { title: 'Source', fields: repositoryFields('terraform_files_source.git_repository', choices) },
    { title: 'Engine', fields: [engineField, versionField(choices.engines, engine), timeout, backendField] },
    {
      title: 'Variables of the stack',
      fields: [
        { ...variablesField, hint: 'An empty secret keeps the stored value.' },
        {
          path: 'terraform_variables_source.tf_var_file_paths',
          label: 'Files of variables',
          type: 'words',
          hint: 'One path a line, relative to the root module.',
        },
      ],
    },
    {
      title: 'Resources of a run',
      fields: [
        { path: 'job_resources.cpu_milli', label: 'CPU', type: 'number', hint: 'Thousandths of a core.' },
        { path: 'job_resources.ram_mib', label: 'Memory', type: 'number', hint: 'MiB.' },
        { path: 'job_resources.storage_gib', label: 'Disk', type: 'number', hint: 'GiB.' },
      ],
    },
    {
      title: 'Pushes',
      fields: [
        { path: 'auto_deploy_config.auto_deploy', label: 'Deploy each push to the branch', type: 'check' },
        {
          path: 'auto_deploy_config.terraform_action',
          label: 'A push',
          type: 'select',
          options: [
            { value: 'DEFAULT', label: 'applies the plan' },
            { value: 'PLAN', label: 'only makes the plan' },
            { value: 'NOOP', label: 'does nothing' },
          ],
        },
      ],
    },
  ],
  draft: (record) => ({
    ...pick(record, 'name', 'description', 'engine', 'provider_version', 'timeout_sec', 'job_resources'),
    ...pick(record, 'terraform_variables_source', 'auto_deploy_config'),
    backend: valueAt(record, 'backend.user_provided') ? { user_provided: {} } : { kubernetes: {} },
    terraform_files_source: { git_repository: repositoryOf(record, 'terraform_files_source.git.git_repository') },
  }),
}
