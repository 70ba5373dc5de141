import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { RecordOf } from '../services/index.ts'
import type { Hcl } from './hcl.ts'
import {
  type Attributes,
  command,
  objectOf,
  pairs,
  plain,
  repository,
  running,
  tagged,
  unlessEmpty,
} from './terraform-parts.ts'

/** The provider's name for a kind, and the attributes that only this kind has. */
interface Resource<K extends KindName> {
  readonly type: string
  /** Whether the provider's resource accepts variables. */
  readonly hasVariables: boolean
  /** `secret` returns the reference to the Terraform variable that holds a secret of that key. */
  readonly attributes: (record: RecordOf<K>, secret: (key: string) => Hcl) => Attributes
}

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
      const size = { cpu, memory, storage, instance_type: instance_type ?? undefined }
      return { type, version, mode, accessibility, ...size, ...tagged(record) }
    },
  },
  job: {
    type: 'qovery_job',
    hasVariables: true,
    attributes: ({ source: { image, docker }, schedule, ...record }) => {
      const { cronjob, on_start, on_stop, on_delete, lifecycle_type } = schedule
      return {
        ...tagged(record),
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
      variables: unlessEmpty(
        record.terraform_variables_source.tf_vars.map(({ key, value, secret: is_secret }) => ({
          key,
          value: is_secret ? secret(key) : value,
          is_secret,
        })),
      ),
      backend: { ...record.backend },
      engine: record.engine,
      engine_version: record.provider_version,
      job_resources: record.job_resources,
      timeout_seconds: record.timeout_sec,
      use_cluster_credentials: record.use_cluster_credentials,
      action_extra_arguments: objectOf(
        unlessEmpty(Object.entries(record.action_extra_arguments).filter(([, words]) => words.length > 0)),
      ),
    }),
  },
}
