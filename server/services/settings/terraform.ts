import { argumentActions, argumentRefusal } from '@quayside/contract/services/terraform-arguments.ts'
import type { CreateBody, EditBody, TokenTypes } from './branch.ts'
import { type Branch, given } from './branch.ts'
import { checkRepository, type Repository, repositoryOf, repositoryRecord } from './repository.ts'
import { checkIcon, checkRelativePath, onlyOne, refuse } from './rules.ts'

export interface TerraformSettings {
  readonly auto_deploy_config: {
    readonly auto_deploy: boolean
    readonly terraform_action: 'DEFAULT' | 'PLAN' | 'NOOP'
  }
  readonly terraform_files_source: { readonly git_repository: Repository }
  readonly terraform_variables_source: {
    readonly tf_var_file_paths: string[]
    /** Secret values are stored separately, sealed. */
    readonly tf_vars: { readonly key: string; readonly value: string; readonly secret: boolean }[]
  }
  readonly backend: 'kubernetes' | 'user_provided'
  readonly engine: 'TERRAFORM' | 'OPEN_TOFU'
  readonly provider_version: { readonly read_from_terraform_block: boolean; readonly explicit_version: string }
  readonly timeout_sec: number
  readonly job_resources: {
    readonly cpu_milli: number
    readonly ram_mib: number
    readonly gpu: number
    readonly storage_gib: number
  }
  readonly use_cluster_credentials: boolean
  readonly action_extra_arguments: Readonly<Record<string, string[]>>
  readonly dockerfile_fragment:
    | { readonly type: 'file'; readonly path: string }
    | { readonly type: 'inline'; readonly content: string }
    | null
  readonly icon_uri: string
}

const defaultIcon = 'app://qovery-console/terraform'
const path = 'terraform_files_source.git_repository'
type Variables = CreateBody<'terraform'>['terraform_variables_source']

/** Returns the name of a secret variable among the secrets of a stack. */
export const secretName = (key: string): string => `tf_vars.${key}`

function variablesOf({ tf_var_file_paths, tf_vars }: Variables): TerraformSettings['terraform_variables_source'] {
  return {
    tf_var_file_paths: [...tf_var_file_paths],
    tf_vars: tf_vars.map(({ key, value, secret }) => ({ key, value: secret ? '' : (value ?? ''), secret })),
  }
}

function fragmentOf(body: NonNullable<EditBody<'terraform'>['dockerfile_fragment']>) {
  const { type, content, path } = body
  const foreign = type === 'file' ? { content } : { path }
  for (const [field, value] of Object.entries(foreign)) {
    if (value) refuse(`dockerfile_fragment.${field}`, `does not belong to a fragment of the type ${type}`)
  }
  if (type === 'file') return { type, path: body.path || refuse('dockerfile_fragment.path', 'is required') }
  return { type, content: content || refuse('dockerfile_fragment.content', 'is required') }
}

function change(former: Partial<TerraformSettings>, body: EditBody<'terraform'>, types: TokenTypes): TerraformSettings {
  const { auto_deploy_config, engine, provider_version, timeout_sec, job_resources, use_cluster_credentials } = body
  const { terraform_files_source: files, terraform_variables_source: variables, backend, dockerfile_fragment } = body
  if (body.blueprint_id) refuse('blueprint_id', 'must be null: there are no blueprints')
  const { kubernetes, user_provided } = backend ?? {}
  const before = former.terraform_files_source?.git_repository
  // Every required member comes from the previous settings or the defaults of the schema.
  return {
    dockerfile_fragment: null,
    ...former,
    ...given({ auto_deploy_config, engine, provider_version, timeout_sec, job_resources, use_cluster_credentials }),
    ...given({ action_extra_arguments: body.action_extra_arguments }),
    ...(files && {
      terraform_files_source: { git_repository: repositoryOf(files.git_repository, before, types(path)) },
    }),
    ...(variables && { terraform_variables_source: variablesOf(variables) }),
    ...(backend && { backend: onlyOne('backend', { kubernetes, user_provided }) }),
    ...(dockerfile_fragment === undefined
      ? {}
      : { dockerfile_fragment: dockerfile_fragment && fragmentOf(dockerfile_fragment) }),
    icon_uri: body.icon_uri ?? former.icon_uri ?? defaultIcon,
  } as TerraformSettings
}

export const terraformBranch: Branch<'terraform'> = {
  create: (body, types) => change({}, body, types),
  change,
  check: (settings, ceiling) => {
    const { terraform_files_source, terraform_variables_source, provider_version, job_resources } = settings
    checkRepository(path, terraform_files_source.git_repository)
    const { tf_var_file_paths, tf_vars } = terraform_variables_source
    for (const [index, file] of tf_var_file_paths.entries()) {
      checkRelativePath(`terraform_variables_source.tf_var_file_paths[${index}]`, file.replace(/^\/+/, ''), false)
    }
    for (const [index, { key }] of tf_vars.entries()) {
      const field = `terraform_variables_source.tf_vars[${index}].key`
      if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(key)) refuse(field, 'must be the name of a variable')
      if (tf_vars.findIndex((other) => other.key === key) !== index) refuse(field, 'is used twice')
    }
    if (
      !provider_version.read_from_terraform_block &&
      !/^v?\d+\.\d+(\.\d+)?$/.test(provider_version.explicit_version)
    ) {
      refuse('provider_version.explicit_version', 'must be a version, such as 1.9.7')
    }
    if (job_resources.cpu_milli > ceiling.cpu) refuse('job_resources.cpu_milli', `must be ≤ ${ceiling.cpu}`)
    if (job_resources.ram_mib > ceiling.memory) refuse('job_resources.ram_mib', `must be ≤ ${ceiling.memory}`)
    if (job_resources.gpu > 0) refuse('job_resources.gpu', 'must be 0: the cluster has no GPU')
    const fragment = settings.dockerfile_fragment
    if (fragment?.type === 'file') {
      checkRelativePath('dockerfile_fragment.path', fragment.path.replace(/^\/+/, ''), false)
    }
    for (const action of argumentActions) {
      for (const [index, word] of (settings.action_extra_arguments[action] ?? []).entries()) {
        const refusal = argumentRefusal(action, word)
        if (refusal !== undefined) refuse(`action_extra_arguments.${action}[${index}]`, refusal)
      }
    }
    checkIcon(settings.icon_uri)
  },
  repositories: [path],
  origins: [],
  secrets: ({ terraform_variables_source: variables }) =>
    variables &&
    Object.fromEntries(
      variables.tf_vars.flatMap(({ key, value, secret }) => (secret ? [[secretName(key), value || undefined]] : [])),
    ),
  record: ({ terraform_files_source, backend, ...settings }, facts) => ({
    ...settings,
    auto_deploy: settings.auto_deploy_config.auto_deploy,
    terraform_files_source: {
      git: { git_repository: repositoryRecord(terraform_files_source.git_repository, facts) },
    },
    backend: { [backend]: {} },
    blueprint_id: null,
  }),
}
