import { GitRepositoryRequest } from '../resources/git-token.ts'
import { base, Change, Enum, Nullable, Ref, Text, Type } from '../schema.ts'
import {
  Arguments,
  argumentList,
  autoDeploy,
  description,
  entrypoint,
  Groups,
  groups,
  Instances,
  iconUri,
  instances,
  name,
  Resources,
  resources,
  Scaling,
  scaling,
} from './fields.ts'
import { GitRepository } from './git-repository.ts'
import { Port, portList, Storage, storageList } from './ports.ts'
import { Healthchecks, healthchecks } from './probes.ts'

/** Settings of an application: what is sent, and what is answered. */
const properties = {
  name,
  git_repository: GitRepositoryRequest,
  ...resources({ cpu: 10, memory: 1 }),
  ...instances,
  auto_preview: Type.Boolean({ default: true }),
  build_mode: Type.Unsafe<'DOCKER'>({ ...Enum(['DOCKER']), default: 'DOCKER' }),
  description,
  dockerfile_path: Type.Optional(Nullable(Text(4096))),
  docker_target_build_stage: Type.Optional(Nullable(Text(128))),
  entrypoint,
  auto_deploy: autoDeploy,
  icon_uri: iconUri,
  ...groups,
  ...scaling,
  ports: portList,
  storage: storageList,
  arguments: argumentList,
  healthchecks,
}
export const ApplicationCreate = Type.Object(properties)
/** What is absent stays as it is. */
export const ApplicationEdit = Change(properties)

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
  ...Resources,
  maximun_gpu: Type.Integer(),
  ...Instances,
  healthchecks: Healthchecks,
  auto_preview: Type.Boolean(),
  auto_deploy: Type.Boolean(),
  arguments: Arguments,
  entrypoint: Type.Optional(Type.String()),
  ports: Type.Array(Port),
  storage: Type.Array(Storage),
  ...Groups,
  ...Scaling,
})
