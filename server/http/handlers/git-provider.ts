import type { Caller } from '../../access/index.ts'
import { AppError } from '../../lib/error.ts'
import type { GitProvider } from '../../organizations/index.ts'

import type { Handlers } from '../call.ts'
import type { Browse } from './browsing.ts'
import { referringServices } from './referring.ts'
import type { Rooms } from './rooms.ts'

interface Call<Query> {
  readonly caller: Caller
  readonly target: { readonly id: string }
  readonly query: Query
}

/** Handlers that list what the accounts behind stored git tokens can see at their git providers. */
export const gitProviderHandlers = (rooms: Rooms, browse: Browse) => {
  const nothing = async () => ({ results: [] })

  async function tokenOf(organizationId: string, id: string, type: GitProvider) {
    const row = await rooms.gitTokens.get(organizationId, id)
    if (row.type !== type) throw new AppError('invalid', `gitTokenId: "${row.name}" is a token of ${row.type}.`)
    const credential = await rooms.gitTokens.credential(rooms.database, organizationId, id, row.git_api_url)
    if (!credential) throw new AppError('invalid', `gitTokenId: "${row.name}" has no valid address.`)
    return { type, git_api_url: row.git_api_url, workspace: row.workspace, token: credential.password }
  }

  const of = (type: GitProvider) => ({
    repositories: async (call: Call<{ gitTokenId?: string }>) => {
      const { caller, target, query } = call
      if (query.gitTokenId === undefined) return nothing()
      const token = await tokenOf(target.id, query.gitTokenId, type)
      return { results: await browse(caller, (signal) => rooms.gitProviders.repositories(token, signal)) }
    },
    branches: async (call: Call<{ name?: string; gitTokenId?: string }>) => {
      const { caller, target, query } = call
      if (query.gitTokenId === undefined) return nothing()
      const { name } = query
      if (name === undefined) throw new AppError('invalid', 'name is required: the repository, such as team/shop.')
      const token = await tokenOf(target.id, query.gitTokenId, type)
      const names = await browse(caller, (signal) => rooms.gitProviders.branches(token, name, signal))
      return { results: names.map((branch) => ({ name: branch })) }
    },
  })
  const [github, gitlab, bitbucket] = [of('GITHUB'), of('GITLAB'), of('BITBUCKET')]

  return {
    listAccountProviders: nothing,
    listAccountRepositories: nothing,
    listAccountBranches: nothing,
    listOrganizationProviders: nothing,
    listHostedRepositories: async ({ target }) => ({ results: [...(await rooms.hostedRepositories(target.id))] }),
    listGithubRepositories: github.repositories,
    listGithubBranches: github.branches,
    listGitlabRepositories: gitlab.repositories,
    listGitlabBranches: gitlab.branches,
    listBitbucketRepositories: bitbucket.repositories,
    listBitbucketBranches: bitbucket.branches,
    getGitTokenAssociatedServices: async ({ target, ids, caller }) => {
      const { id } = await rooms.gitTokens.get(target.id, ids[0] ?? '')
      return { results: await referringServices(rooms.database, caller, 'git_token_id', id) }
    },
  } satisfies Partial<Handlers>
}
