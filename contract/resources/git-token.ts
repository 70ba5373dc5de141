import { gitProviders } from '../enums.ts'
import { operation } from '../operation.ts'
import { base, Enum, NoBody, Nullable, PlainDate, Results, Text, Type, Uuid } from '../schema.ts'

export const GitToken = Type.Object({
  ...base,
  name: Type.String(),
  description: Type.String(),
  type: Enum(gitProviders),
  expired_at: Nullable(PlainDate),
  workspace: Nullable(Type.String()),
  associated_services_count: Type.Integer(),
  git_api_url: Type.String(),
})

const properties = {
  name: Text(255, 1),
  description: Type.Optional(Nullable(Text(1000))),
  type: Enum(gitProviders),
  workspace: Type.Optional(Nullable(Text(255))),
  git_api_url: Type.Optional(Nullable(Text(2000))),
}
export const GitTokenCreate = Type.Object({ ...properties, token: Text(4096, 1) })
/** An absent or empty `token` keeps the stored one. */
export const GitTokenEdit = Type.Object({ ...properties, token: Type.Optional(Text(4096)) })

/** The repository of a form. */
export const GitRepositoryRequest = Type.Object({
  url: Text(4096, 1),
  branch: Type.Optional(Nullable(Text(255))),
  root_path: Type.Optional(Nullable(Text(4096))),
  git_token_id: Type.Optional(Nullable(Uuid)),
  provider: Type.Optional(Nullable(Enum(gitProviders))),
})

const tag = 'Git'
const path = '/organization/{organizationId}/gitToken'
const onOrganization = { target: 'organization', tag } as const

export const gitTokenOperations = {
  listOrganizationGitTokens: operation({
    ...onOrganization,
    method: 'GET',
    path,
    handler: 'listGitTokens',
    access: 'read',
    summary: 'Lists the git tokens of an organization, without their values.',
    reply: Results(GitToken),
    status: 200,
  }),
  createGitToken: operation({
    ...onOrganization,
    method: 'POST',
    path,
    handler: 'createGitToken',
    event: { type: 'CREATE', target: 'ORGANIZATION', sub: 'GIT_TOKEN' },
    access: 'admin',
    summary: 'Stores a git token. Its value is never returned. BITBUCKET requires `workspace`.',
    body: GitTokenCreate,
    reply: GitToken,
    status: 201,
  }),
  getOrganizationGitToken: operation({
    ...onOrganization,
    method: 'GET',
    path: `${path}/{gitTokenId}`,
    handler: 'getGitToken',
    access: 'read',
    summary: 'Returns a git token without its value.',
    reply: GitToken,
    status: 200,
  }),
  editGitToken: operation({
    ...onOrganization,
    method: 'PUT',
    path: `${path}/{gitTokenId}`,
    handler: 'editGitToken',
    event: { type: 'UPDATE', target: 'ORGANIZATION', sub: 'GIT_TOKEN' },
    access: 'admin',
    summary: 'Replaces a git token. Without `token`, the stored value is kept.',
    body: GitTokenEdit,
    reply: GitToken,
    status: 200,
  }),
  deleteGitToken: operation({
    ...onOrganization,
    method: 'DELETE',
    path: `${path}/{gitTokenId}`,
    handler: 'deleteGitToken',
    event: { type: 'DELETE', target: 'ORGANIZATION', sub: 'GIT_TOKEN' },
    access: 'admin',
    summary: 'Deletes a git token. 409 if a service still uses it.',
    reply: NoBody,
    status: 204,
  }),
  listDirectoriesFromGitRepository: operation({
    ...onOrganization,
    method: 'POST',
    path: '/organization/{organizationId}/listDirectoriesFromGitRepository',
    handler: 'listDirectories',
    reads: true,
    access: 'write',
    summary:
      'Lists the names of the directories directly under `root_path`, sorted. 400 if the repository cannot be read.',
    body: GitRepositoryRequest,
    reply: Results(Type.String()),
    status: 200,
  }),
} as const
