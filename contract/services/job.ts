import { GitRepositoryRequest } from '../resources/git-token.ts'
import { base, Change, Defaulted, Enum, Integer, Nullable, Ref, Text, Type } from '../schema.ts'
import {
  Arguments,
  argumentList,
  autoDeploy,
  description,
  entrypoint,
  Groups,
  groups,
  ImageFields,
  iconUri,
  imageFields,
  name,
  Resources,
  resources,
} from './fields.ts'
import { GitRepository } from './git-repository.ts'
import { Healthchecks, healthchecks } from './probes.ts'

export const lifecycleTypes = ['GENERIC', 'TERRAFORM', 'CLOUDFORMATION'] as const
const optionalPath = Type.Optional(Nullable(Text(4096)))

/** The source of its image: exactly one of the two. */
const source = Type.Object({
  image: Type.Optional(Nullable(Type.Object(imageFields))),
  docker: Type.Optional(
    Nullable(
      Type.Object({
        git_repository: GitRepositoryRequest,
        dockerfile_path: optionalPath,
        dockerfile_raw: Type.Optional(Nullable(Text(65_536))),
        docker_target_build_stage: Type.Optional(Nullable(Text(128))),
      }),
    ),
  ),
})
const event = Type.Optional(Nullable(Type.Object({ arguments: argumentList, entrypoint })))
/** When it runs: by schedule (`cronjob`), or at events of its environment. */
const schedule = Type.Object({
  on_start: event,
  on_stop: event,
  on_delete: event,
  cronjob: Type.Optional(
    Nullable(
      Type.Object({
        arguments: argumentList,
        entrypoint,
        timezone: Defaulted(Type.String({ maxLength: 64 }), 'Etc/UTC'),
        scheduled_at: Text(255, 1),
      }),
    ),
  ),
  lifecycle_type: Type.Optional(Nullable(Enum(lifecycleTypes))),
})

/** The settings of a job. */
const properties = {
  name,
  description,
  ...resources({ cpu: 10, memory: 1 }),
  max_nb_restart: Defaulted(Type.Integer({ minimum: 0, maximum: 1000 }), 0),
  max_duration_seconds: Defaulted(Type.Integer({ minimum: 0, maximum: 2_592_000 }), 300),
  auto_preview: Defaulted(Type.Boolean(), true),
  port: Type.Optional(Nullable(Integer(1, 65535))),
  source,
  healthchecks,
  schedule,
  auto_deploy: autoDeploy,
  icon_uri: iconUri,
  ...groups,
}
export const JobCreate = Type.Object(properties)
/** Absent fields are unchanged. */
export const JobEdit = Change(properties)

const Event = Type.Optional(Type.Object({ arguments: Arguments, entrypoint: Type.Optional(Type.String()) }))
export const JobSchedule = Type.Object({
  on_start: Event,
  on_stop: Event,
  on_delete: Event,
  cronjob: Type.Optional(
    Type.Object({
      arguments: Arguments,
      entrypoint: Type.Optional(Type.String()),
      timezone: Type.String(),
      scheduled_at: Type.String(),
    }),
  ),
  lifecycle_type: Type.Optional(Enum(lifecycleTypes)),
})

export const Job = Type.Object({
  ...base,
  environment: Ref,
  name: Type.String(),
  description: Type.String(),
  icon_uri: Type.String(),
  service_type: Type.Literal('JOB'),
  job_type: Enum(['CRON', 'LIFECYCLE']),
  ...Resources,
  maximum_gpu: Type.Integer(),
  max_nb_restart: Type.Integer(),
  max_duration_seconds: Type.Integer(),
  auto_preview: Type.Boolean(),
  port: Nullable(Type.Integer()),
  source: Type.Object({
    image: Type.Optional(Type.Object(ImageFields)),
    docker: Type.Optional(
      Type.Object({
        git_repository: GitRepository,
        dockerfile_path: Nullable(Type.String()),
        dockerfile_raw: Nullable(Type.String()),
        docker_target_build_stage: Nullable(Type.String()),
      }),
    ),
  }),
  healthchecks: Healthchecks,
  schedule: JobSchedule,
  auto_deploy: Type.Boolean(),
  ...Groups,
})
