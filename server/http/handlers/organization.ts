import { GitError } from '../../git/index.ts'
import { AppError } from '../../lib/error.ts'
import { createSlots, type Slots } from '../../lib/slots.ts'
import { organizationRecord, projectRecord } from '../../organizations/index.ts'
import type { Handlers } from '../call.ts'
import type { Rooms } from './rooms.ts'

const idOf = (ids: readonly string[]): string => ids[0] ?? ''

/** How long a form waits for a repository. */
const browseMs = 15_000
/** Repositories that one organization reads at the same time; further ones wait. */
const mostBrowsed = 4

/** Organizations, and what hangs on them directly. */
export const organizationHandlers = (rooms: Rooms) => {
  const slots = new Map<string, Slots>()
  const browsing = (organizationId: string): Slots => {
    const own = slots.get(organizationId) ?? createSlots(mostBrowsed)
    slots.set(organizationId, own)
    return own
  }
  return {
    listOrganizations: async ({ organizationIds }) => {
      const results = await rooms.organizations.list(organizationIds)
      return { ...results[0], results }
    },
    getOrganization: async ({ target }) => organizationRecord(target),
    editOrganization: ({ target, body }) => rooms.organizations.edit(target, body),

    listProjects: async ({ target }) => ({ results: await rooms.projects.list(target.id) }),
    createProject: ({ target, body }) => rooms.projects.create(target.id, body),
    getProject: async ({ target }) => projectRecord(target),
    editProject: ({ target, body }) => rooms.projects.edit(target, body),
    deleteProject: async ({ target }) => void (await rooms.projects.remove(target)),

    listApiTokens: async ({ target, query }) => ({ results: await rooms.apiTokens.list(target.id, query) }),
    createApiToken: ({ target, caller, body }) => rooms.apiTokens.create(target.id, caller, body),
    deleteApiToken: async ({ target, ids }) => void (await rooms.apiTokens.remove(target.id, idOf(ids))),

    listGitTokens: async ({ target }) => ({ results: await rooms.gitTokens.list(target.id) }),
    createGitToken: ({ target, body }) => rooms.gitTokens.create(target.id, body),
    getGitToken: ({ target, ids }) => rooms.gitTokens.get(target.id, idOf(ids)),
    editGitToken: ({ target, ids, body }) => rooms.gitTokens.edit(target.id, idOf(ids), body),
    deleteGitToken: async ({ target, ids }) => void (await rooms.gitTokens.remove(target.id, idOf(ids))),

    listDirectories: async ({ target, body }) => {
      const { url, branch, git_token_id, root_path } = body
      const credential = git_token_id
        ? await rooms.gitTokens.credential(rooms.database, target.id, git_token_id, url)
        : undefined
      if (git_token_id && !credential) {
        throw new AppError('invalid', 'git_token_id: the token is for another host than that of url.')
      }
      const repository = {
        url,
        organization: target.id,
        ...(branch ? { branch } : {}),
        ...(credential ? { credential } : {}),
      }
      const path = (root_path ?? '/').replace(/^\/+/, '')
      const signal = AbortSignal.timeout(browseMs)
      const list = () => rooms.git.listDirectories(repository, path, signal)
      const results = await browsing(target.id).run(signal, list).catch(refuse)
      return { results }
    },

    listWebhooks: async ({ target }) => ({ results: await rooms.webhooks.list(target.id) }),
    createWebhook: ({ target, body }) => rooms.webhooks.create(target.id, body),
    getWebhook: ({ target, ids }) => rooms.webhooks.get(target.id, idOf(ids)),
    editWebhook: ({ target, ids, body }) => rooms.webhooks.edit(target.id, idOf(ids), body),
    deleteWebhook: async ({ target, ids }) => void (await rooms.webhooks.remove(target.id, idOf(ids))),
    listWebhookDeliveries: async ({ target, ids }) => ({
      results: await rooms.webhooks.deliveries(target.id, idOf(ids)),
    }),

    listClusters: async ({ target }) => ({ results: await rooms.clusters.list(target.id) }),
    listClusterStatuses: async ({ target }) => ({ results: await rooms.clusters.statuses(target.id) }),
    getClusterStatus: ({ target, ids }) => rooms.clusters.status(target.id, idOf(ids)),
  } satisfies Partial<Handlers>
}

function refuse(error: unknown): never {
  if (error instanceof GitError) throw new AppError('invalid', error.message, { cause: error })
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    throw new AppError('invalid', `The repository did not answer within ${browseMs / 1000} s.`, { cause: error })
  }
  throw error
}
