import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { RecordOf } from '../services/index.ts'
import type { Hcl } from './hcl.ts'

type Attributes = Readonly<Record<string, Hcl | undefined>>

/** The provider's name for a kind, and the attributes that only this kind has. */
interface Resource<K extends KindName> {
  readonly type: string
  /** Whether the provider's resource accepts variables. */
  readonly hasVariables: boolean
  /** `secret` returns the reference to the Terraform variable that holds a secret of that key. */
  readonly attributes: (record: RecordOf<K>, secret: (key: string) => Hcl) => Attributes
}

/** The attributes of services that run all the time. */
interface Running {
  readonly cpu: number
  readonly memory: number
  readonly min_running_instances: number
  readonly max_running_instances: number
  readonly auto_preview: boolean
  readonly auto_deploy: boolean
  readonly entrypoint?: string
  readonly arguments: readonly string[]
  readonly ports: readonly { readonly id: string }[]
  readonly storage: readonly { readonly id: string }[]
  readonly healthchecks: object
}
const running = (record: Running): Attributes => ({
  cpu: record.cpu,
  memory: record.memory,
  min_running_instances: record.min_running_instances,
  max_running_instances: record.max_running_instances,
  auto_preview: record.auto_preview,
  auto_deploy: record.auto_deploy,
  entrypoint: record.entrypoint,
  arguments: record.arguments,
  ports: record.ports.map(({ id: _, ...port }) => plain(port)),
  storage: record.storage.map(({ id: _, ...storage }) => plain(storage)),
  healthchecks: plain(record.healthchecks),
})

interface Repository {
  readonly url: string
  readonly branch: string
  readonly root_path: string
  readonly git_token_id: string | null
}
const repository = ({ url, branch, root_path, git_token_id }: Repository): Attributes => ({
  url,
  branch,
  root_path,
  git_token_id: git_token_id ?? undefined,
})

type Command = { readonly arguments: readonly string[]; readonly entrypoint?: string } | undefined
const command = (given: Command): Hcl | undefined =>
  given && { arguments: [...given.arguments], ...(given.entrypoint && { entrypoint: given.entrypoint }) }

export const terraformResources: { readonly [K in KindName]: Resource<K> } = {
  application: {
    type: 'qovery_application',
    hasVariables: true,
    attributes: (record) => ({
      ...running(record),
      git_repository: repository(record.git_repository),
      build_mode: record.build_mode,
      dockerfile_path: record.dockerfile_path ?? undefined,
      docker_target_build_stage: record.docker_target_build_stage ?? undefined,
    }),
  },
  container: {
    type: 'qovery_container',
    hasVariables: true,
    attributes: (record) => ({
      ...running(record),
      registry_id: record.registry.id,
      image_name: record.image_name,
      tag: record.tag,
    }),
  },
  database: {
    type: 'qovery_database',
    hasVariables: false,
    attributes: (record) => {
      const { type, version, mode, accessibility, cpu, memory, storage, instance_type } = record
      return { type, version, mode, accessibility, cpu, memory, storage, instance_type: instance_type ?? undefined }
    },
  },
  job: {
    type: 'qovery_job',
    hasVariables: true,
    attributes: ({ source: { image, docker }, schedule, ...record }) => {
      const { cronjob, on_start, on_stop, on_delete, lifecycle_type } = schedule
      return {
        cpu: record.cpu,
        memory: record.memory,
        max_nb_restart: record.max_nb_restart,
        max_duration_seconds: record.max_duration_seconds,
        auto_preview: record.auto_preview,
        auto_deploy: record.auto_deploy,
        port: record.port ?? undefined,
        healthchecks: plain(record.healthchecks),
        source: {
          image: image && { registry_id: image.registry.id, name: image.image_name, tag: image.tag },
          docker: docker && {
            git_repository: repository(docker.git_repository),
            dockerfile_path: docker.dockerfile_path ?? undefined,
            dockerfile_raw: docker.dockerfile_raw ?? undefined,
            docker_target_build_stage: docker.docker_target_build_stage ?? undefined,
          },
        },
        schedule: {
          cronjob: cronjob && { schedule: cronjob.scheduled_at, command: command(cronjob) },
          on_start: command(on_start),
          on_stop: command(on_stop),
          on_delete: command(on_delete),
          lifecycle_type,
        },
      }
    },
  },
  helm: {
    type: 'qovery_helm',
    hasVariables: true,
    attributes: ({ source: { git, repository: chart }, values_override: values, ...record }) => ({
      description: record.description,
      timeout_sec: record.timeout_sec,
      auto_preview: record.auto_preview,
      auto_deploy: record.auto_deploy,
      allow_cluster_wide_resources: record.allow_cluster_wide_resources,
      arguments: record.arguments,
      source: {
        git_repository: git && repository(git.git_repository),
        helm_repository: chart && {
          helm_repository_id: chart.repository.id,
          chart_name: chart.chart_name,
          chart_version: chart.chart_version,
        },
      },
      values_override: {
        set: pairs(values.set),
        set_string: pairs(values.set_string),
        set_json: pairs(values.set_json),
        file: values.file
          ? {
              raw: values.file.raw
                ? Object.fromEntries(values.file.raw.values.map(({ name, content }) => [name, { content }]))
                : undefined,
              git_repository: values.file.git
                ? { ...repository(values.file.git.git_repository), paths: values.file.git.paths, root_path: undefined }
                : undefined,
            }
          : undefined,
      },
      ports: Object.fromEntries(
        record.ports.flatMap(({ id: _, name, port_type: _type, service_selectors: _selectors, ...port }) =>
          port.service_name === undefined ? [] : [[name, port]],
        ),
      ),
    }),
  },
  terraform: {
    type: 'qovery_terraform_service',
    hasVariables: false,
    attributes: (record, secret) => ({
      description: record.description,
      auto_deploy: record.auto_deploy,
      terraform_action: record.auto_deploy_config.terraform_action,
      git_repository: repository(record.terraform_files_source.git.git_repository),
      tfvars_files: record.terraform_variables_source.tf_var_file_paths,
      variables: record.terraform_variables_source.tf_vars.map(({ key, value, secret: is_secret }) => ({
        key,
        value: is_secret ? secret(key) : value,
        is_secret,
      })),
      backend: { ...record.backend },
      engine: record.engine,
      engine_version: record.provider_version,
      job_resources: record.job_resources,
      timeout_seconds: record.timeout_sec,
      use_cluster_credentials: record.use_cluster_credentials,
      action_extra_arguments: Object.fromEntries(
        Object.entries(record.action_extra_arguments).filter(([, words]) => words.length > 0),
      ),
    }),
  },
}

const pairs = (list: readonly (readonly string[])[]): Hcl =>
  Object.fromEntries(list.map(([name = '', value = '']) => [name, value]))

/** Returns JSON without members that are null. */
function plain(value: unknown): Hcl {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  const members = Object.entries(Object(value)).filter(([, member]) => member !== null && member !== undefined)
  return Object.fromEntries(members.map(([name, member]) => [name, plain(member)]))
}
