import { GitRepositoryRequest } from '../resources/git-token.ts'
import { Change, Defaulted, Enum, Nullable, Text, Type } from '../schema.ts'
import { GitRepository } from './git-repository.ts'
import { LongRunning, longRunning } from './long-running.ts'

/** Settings of an application: what is sent, and what is answered. */
const properties = {
  ...longRunning({ cpu: 10, memory: 1 }),
  git_repository: GitRepositoryRequest,
  build_mode: Defaulted(Enum(['DOCKER']), 'DOCKER'),
  dockerfile_path: Type.Optional(Nullable(Text(4096))),
  docker_target_build_stage: Type.Optional(Nullable(Text(128))),
}
export const ApplicationCreate = Type.Object(properties)
/** What is absent stays as it is. */
export const ApplicationEdit = Change(properties)

export const Application = Type.Object({
  ...LongRunning,
  service_type: Type.Literal('APPLICATION'),
  git_repository: GitRepository,
  build_mode: Enum(['DOCKER']),
  dockerfile_path: Nullable(Type.String()),
  docker_target_build_stage: Nullable(Type.String()),
  maximun_gpu: Type.Integer({ description: 'spelt as the API spells it for applications' }),
})
