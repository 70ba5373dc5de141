import { named, operation } from '../operation.ts'
import { Results, Text, Type, Uuid } from '../schema.ts'
import { AssociatedService } from './registry-record.ts'

export const GitAuthProvider = Type.Object({
  id: Type.Optional(Type.String()),
  name: Type.String(),
  owner: Type.String(),
  use_bot: Type.Optional(Type.Boolean()),
})
/** A repository in the list of its provider. */
export const ListedRepository = Type.Object({
  id: Type.String(),
  name: Type.String({ description: 'with its owner: `team/shop`' }),
  url: Type.String(),
  default_branch: Type.Optional(Type.String()),
  is_private: Type.Optional(Type.Boolean()),
})
/** A repository of the built-in git host. */
export const HostedRepository = Type.Object({
  name: Type.String(),
  url: Type.String({ description: 'its address for git, and for services' }),
})
export const ListedBranch = Type.Object({ name: Type.String() })

const tag = 'Git'
const get = { method: 'GET', tag, status: 200 } as const
const name = Type.Optional(Text(512))
const gitTokenId = Type.Optional(Uuid)

/** Repositories and branches of one provider, by the caller's account and by a stored git token. */
function provider<const K extends 'Github' | 'Gitlab' | 'Bitbucket'>(noun: K) {
  const path = `account/${noun.toLowerCase()}/repository`
  const onOrganization = { ...get, target: 'organization', access: 'write', elsewhere: true } as const
  return named(noun, {
    'get{Kind}Repositories': operation({
      ...get,
      path: `/${path}`,
      handler: 'listAccountRepositories',
      target: 'caller',
      access: 'read',
      summary:
        'Lists the repositories of the caller’s git account. Always empty: accounts cannot be linked. Use a git token.',
      reply: Results(ListedRepository),
    }),
    'get{Kind}RepositoryBranches': operation({
      ...get,
      path: `/${path}/branch`,
      handler: 'listAccountBranches',
      target: 'caller',
      access: 'read',
      summary:
        'Lists the branches of a repository of the caller’s git account. Always empty: accounts cannot be ' +
        'linked. Use a git token.',
      query: Type.Object({ name }),
      reply: Results(ListedBranch),
    }),
    'getOrganization{Kind}Repositories': operation({
      ...onOrganization,
      path: `/organization/{organizationId}/${path}`,
      handler: `list${noun}Repositories` as const,
      summary: 'Lists the repositories that a git token can read, at most 500. Empty without a token.',
      query: Type.Object({ gitTokenId }),
      reply: Results(ListedRepository),
    }),
    'getOrganization{Kind}RepositoryBranches': operation({
      ...onOrganization,
      path: `/organization/{organizationId}/${path}/branch`,
      handler: `list${noun}Branches` as const,
      summary:
        'Lists the branches of the repository `name` that a git token can read, at most 500. Empty without a token.',
      query: Type.Object({ name, gitTokenId }),
      reply: Results(ListedBranch),
    }),
  })
}

export const gitBrowsingOperations = {
  getGitTokenAssociatedServices: operation({
    ...get,
    path: '/organization/{organizationId}/gitToken/{gitTokenId}/associatedServices',
    handler: 'getGitTokenAssociatedServices',
    target: 'organization',
    access: 'read',
    summary: 'Lists the services that use a git token.',
    reply: Results(AssociatedService),
  }),
  getGitProviderAccount: operation({
    ...get,
    path: '/account/gitAuthProvider',
    handler: 'listAccountProviders',
    target: 'caller',
    access: 'read',
    summary:
      'Lists the git providers linked to the caller’s account. Always empty: accounts cannot be linked. Use ' +
      'a git token.',
    reply: Results(GitAuthProvider),
  }),
  getOrganizationGitProviderAccount: operation({
    ...get,
    path: '/organization/{organizationId}/account/gitAuthProvider',
    handler: 'listOrganizationProviders',
    target: 'organization',
    access: 'read',
    summary: 'Lists the git provider connections of an organization. Always empty: organizations use git tokens.',
    reply: Results(GitAuthProvider),
  }),
  listHostedRepositories: operation({
    extension: true,
    ...get,
    path: '/organization/{organizationId}/gitHost/repository',
    handler: 'listHostedRepositories',
    target: 'organization',
    access: 'write',
    summary: 'Lists the repositories of the built-in git host, by name, at most 500.',
    reply: Results(HostedRepository),
  }),
  ...provider('Github'),
  ...provider('Gitlab'),
  ...provider('Bitbucket'),
} as const
