import { GitRepositoryRequest } from '../resources/git-token.ts'
import { Change, Defaulted, Enum, Nullable, Text, Type } from '../schema.ts'
import { GitRepository } from './git-repository.ts'
import { LongRunning, longRunning } from './long-running.ts'

/** The settings of an application, in requests and in responses. */
const properties = {
  ...longRunning({ cpu: 10, memory: 1 }),
  git_repository: GitRepositoryRequest,
  build_mode: Defaulted(Enum(['DOCKER']), 'DOCKER'),
  dockerfile_path: Type.Optional(Nullable(Text(4096))),
  docker_target_build_stage: Type.Optional(Nullable(Text(128))),
}
export const ApplicationCreate = Type.Object(properties)
/** Absent fields are unchanged. */
export const ApplicationEdit = Change(properties)

export const Application = Type.Object({
  ...LongRunning,
  service_type: Type.Literal('APPLICATION'),
  git_repository: GitRepository,
  build_mode: Enum(['DOCKER']),
  dockerfile_path: Nullable(Type.String()),
  docker_target_build_stage: Nullable(Type.String()),
  maximun_gpu: Type.Integer({ description: 'the spelling of the public API for applications' }),
})
