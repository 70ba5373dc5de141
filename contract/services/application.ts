import { gitProviders, portProtocols } from '../enums.ts'
import { GitRepositoryRequest } from '../resources/git-token.ts'
import { base, Change, Enum, Integer, List, Nullable, Ref, Text, Timestamp, Type, Uuid } from '../schema.ts'

/** Settings of an application: what is sent, and what is answered. */
const probe = Nullable(
  Type.Object({
    type: Type.Object({
      tcp: Type.Optional(Nullable(Type.Object({ port: Integer(1, 65535), host: Type.Optional(Nullable(Text(255))) }))),
      http: Type.Optional(
        Nullable(
          Type.Object({
            path: Type.String({ maxLength: 2000, default: '/' }),
            scheme: Type.Unsafe<'HTTP' | 'HTTPS'>({ ...Enum(['HTTP', 'HTTPS']), default: 'HTTP' }),
            port: Integer(1, 65535),
          }),
        ),
      ),
      exec: Type.Optional(Nullable(Type.Object({ command: Type.Array(Text(4096), { minItems: 1, maxItems: 100 }) }))),
      grpc: Type.Optional(
        Nullable(Type.Object({ service: Type.Optional(Nullable(Text(255))), port: Integer(1, 65535) })),
      ),
    }),
    initial_delay_seconds: Type.Integer({ minimum: 0, maximum: 3600, default: 30 }),
    period_seconds: Type.Integer({ minimum: 1, maximum: 3600, default: 10 }),
    timeout_seconds: Type.Integer({ minimum: 1, maximum: 3600, default: 5 }),
    success_threshold: Type.Integer({ minimum: 1, maximum: 100, default: 1 }),
    failure_threshold: Type.Integer({ minimum: 1, maximum: 1000, default: 9 }),
  }),
)
export const Healthchecks = Type.Object({
  readiness_probe: Type.Optional(probe),
  liveness_probe: Type.Optional(probe),
})

const portFields = {
  internal_port: Integer(1, 65535),
  publicly_accessible: Type.Boolean(),
  protocol: Type.Unsafe<(typeof portProtocols)[number]>({ ...Enum(portProtocols), default: 'HTTP' }),
}
export const PortRequest = Type.Object({
  ...portFields,
  id: Type.Optional(Nullable(Uuid)),
  name: Type.Optional(Nullable(Text(63, 1))),
  external_port: Type.Optional(Nullable(Integer(1, 65535))),
  is_default: Type.Optional(Nullable(Type.Boolean())),
  public_path: Type.Optional(Nullable(Text(1000))),
  public_path_rewrite: Type.Optional(Nullable(Text(1000))),
})
export const Port = Type.Object({
  ...portFields,
  id: Uuid,
  name: Type.String(),
  external_port: Type.Optional(Type.Integer()),
  is_default: Type.Boolean(),
})

const storageFields = { type: Enum(['FAST_SSD']), size: Integer(1, 65536), mount_point: Text(4096, 1) }
export const StorageRequest = Type.Object({ ...storageFields, id: Type.Optional(Nullable(Uuid)) })
export const Storage = Type.Object({ ...storageFields, id: Uuid })

/** What every long-running service is given, with defaults. */
const runtime = {
  cpu: Type.Integer({ minimum: 10, maximum: 1_000_000, default: 500, description: 'thousandths of a core' }),
  memory: Type.Integer({ minimum: 1, maximum: 10_000_000, default: 512, description: 'MB' }),
  gpu: Type.Integer({ minimum: 0, maximum: 64, default: 0 }),
  min_running_instances: Type.Integer({ minimum: 0, maximum: 100, default: 1 }),
  max_running_instances: Type.Integer({ minimum: -1, maximum: 100, default: 1 }),
  auto_preview: Type.Boolean({ default: true }),
  build_mode: Type.Unsafe<'DOCKER'>({ ...Enum(['DOCKER']), default: 'DOCKER' }),
}
const optional = {
  description: Type.Optional(Nullable(Text(1000))),
  dockerfile_path: Type.Optional(Nullable(Text(4096))),
  docker_target_build_stage: Type.Optional(Nullable(Text(128))),
  ephemeral_storage_in_gib: Type.Optional(Nullable(Integer(0, 65536))),
  cpu_architecture: Type.Optional(Nullable(Enum(['AMD64', 'ARM64']))),
  entrypoint: Type.Optional(Nullable(Text(4096))),
  auto_deploy: Type.Optional(Nullable(Type.Boolean())),
  icon_uri: Type.Optional(Nullable(Text(2000))),
  annotations_groups: Type.Optional(List(Ref, 100)),
  labels_groups: Type.Optional(List(Ref, 100)),
  autoscaling: Type.Optional(Nullable(Type.Object({}, { additionalProperties: true }))),
}
const lists = {
  ports: Type.Array(PortRequest, { maxItems: 100, default: [] }),
  storage: Type.Array(StorageRequest, { maxItems: 100, default: [] }),
  arguments: Type.Array(Text(4096), { maxItems: 256, default: [] }),
  healthchecks: Type.Unsafe<typeof Healthchecks.static>({ ...Healthchecks, default: {} }),
}

export const ApplicationCreate = Type.Object({
  name: Text(63, 1),
  git_repository: GitRepositoryRequest,
  ...runtime,
  ...optional,
  ...lists,
})

/** What is absent stays as it is. */
export const ApplicationEdit = Change({
  name: Text(63, 1),
  git_repository: GitRepositoryRequest,
  ...runtime,
  ...optional,
  ...lists,
})

const GitRepository = Type.Object({
  provider: Enum(gitProviders),
  owner: Type.String(),
  url: Type.String(),
  name: Type.String(),
  has_access: Type.Boolean(),
  branch: Type.String(),
  root_path: Type.String(),
  deployed_commit_id: Type.String({ description: 'empty before the first deployment' }),
  deployed_commit_date: Nullable(Timestamp),
  deployed_commit_contributor: Type.String(),
  deployed_commit_tag: Type.String(),
  git_token_id: Nullable(Uuid),
  git_token_name: Nullable(Type.String()),
})

export const Application = Type.Object({
  ...base,
  environment: Ref,
  name: Type.String(),
  description: Type.String(),
  icon_uri: Type.String(),
  service_type: Type.Literal('APPLICATION'),
  git_repository: GitRepository,
  build_mode: Enum(['DOCKER']),
  dockerfile_path: Nullable(Type.String()),
  docker_target_build_stage: Nullable(Type.String()),
  cpu: Type.Integer(),
  memory: Type.Integer(),
  gpu: Type.Integer(),
  maximum_cpu: Type.Integer(),
  maximum_memory: Type.Integer(),
  maximun_gpu: Type.Integer(),
  ephemeral_storage_in_gib: Type.Optional(Type.Integer()),
  cpu_architecture: Nullable(Enum(['AMD64', 'ARM64'])),
  min_running_instances: Type.Integer(),
  max_running_instances: Type.Integer(),
  healthchecks: Healthchecks,
  auto_preview: Type.Boolean(),
  auto_deploy: Type.Boolean(),
  arguments: Type.Array(Type.String()),
  entrypoint: Type.Optional(Type.String()),
  ports: Type.Array(Port),
  storage: Type.Array(Storage),
  annotations_groups: Type.Array(Ref),
  labels_groups: Type.Array(Ref),
})
