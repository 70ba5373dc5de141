import { named, operation } from '../operation.ts'
import { Results, Text, Type, Uuid } from '../schema.ts'
import { AssociatedService } from './registry-record.ts'

export const GitAuthProvider = Type.Object({
  id: Type.Optional(Type.String()),
  name: Type.String(),
  owner: Type.String(),
  use_bot: Type.Optional(Type.Boolean()),
})
/** A repository as its provider lists it. */
export const ListedRepository = Type.Object({
  id: Type.String(),
  name: Type.String({ description: 'with its owner: `team/shop`' }),
  url: Type.String(),
  default_branch: Type.Optional(Type.String()),
  is_private: Type.Optional(Type.Boolean()),
})
export const ListedBranch = Type.Object({ name: Type.String() })

const tag = 'Git'
const get = { method: 'GET', tag, status: 200 } as const
const name = Type.Optional(Text(512))
const gitTokenId = Type.Optional(Uuid)

/** The repositories and branches of one provider: those of the caller's account, and those that a stored git token shows. */
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
      summary: 'Nothing: accounts are not joined to git providers; choose a git token of the organization.',
      reply: Results(ListedRepository),
    }),
    'get{Kind}RepositoryBranches': operation({
      ...get,
      path: `/${path}/branch`,
      handler: 'listAccountBranches',
      target: 'caller',
      access: 'read',
      summary: 'Nothing: accounts are not joined to git providers; choose a git token of the organization.',
      query: Type.Object({ name }),
      reply: Results(ListedBranch),
    }),
    'getOrganization{Kind}Repositories': operation({
      ...onOrganization,
      path: `/organization/{organizationId}/${path}`,
      handler: `list${noun}Repositories` as const,
      summary: 'The repositories that the git token shows, at most 500; none without a token.',
      query: Type.Object({ gitTokenId }),
      reply: Results(ListedRepository),
    }),
    'getOrganization{Kind}RepositoryBranches': operation({
      ...onOrganization,
      path: `/organization/{organizationId}/${path}/branch`,
      handler: `list${noun}Branches` as const,
      summary: 'The branches of the repository `name`, at most 500, as the git token shows them; none without a token.',
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
    summary: 'The services that use a git token.',
    reply: Results(AssociatedService),
  }),
  getGitProviderAccount: operation({
    ...get,
    path: '/account/gitAuthProvider',
    handler: 'listAccountProviders',
    target: 'caller',
    access: 'read',
    summary: 'Nothing: accounts are not joined to git providers; choose a git token of the organization.',
    reply: Results(GitAuthProvider),
  }),
  getOrganizationGitProviderAccount: operation({
    ...get,
    path: '/organization/{organizationId}/account/gitAuthProvider',
    handler: 'listOrganizationProviders',
    target: 'organization',
    access: 'read',
    summary: 'Nothing: organizations are not joined to git providers; they have git tokens.',
    reply: Results(GitAuthProvider),
  }),
  ...provider('Github'),
  ...provider('Gitlab'),
  ...provider('Bitbucket'),
} as const
