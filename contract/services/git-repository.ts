import { gitProviders } from '../enums.ts'
import { Enum, Nullable, Timestamp, Type, Uuid } from '../schema.ts'

/** The repository of a service, in responses. */
export const GitRepository = Type.Object({
  provider: Enum(gitProviders),
  owner: Type.String(),
  url: Type.String(),
  name: Type.String(),
  has_access: Type.Boolean({
    description: 'the result of the last access to the repository; before any, true only for the built-in git host',
  }),
  branch: Type.String(),
  root_path: Type.String(),
  deployed_commit_id: Type.String({ description: 'empty before the first deployment' }),
  deployed_commit_date: Nullable(Timestamp),
  deployed_commit_contributor: Type.String(),
  deployed_commit_tag: Type.String(),
  git_token_id: Nullable(Uuid),
  git_token_name: Nullable(Type.String()),
})
