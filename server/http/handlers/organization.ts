import { visible } from '../../access/index.ts'
import { organizationRecord, projectRecord } from '../../organizations/index.ts'
import type { Handlers } from '../call.ts'
import type { Rooms } from './rooms.ts'
import { webhookReader } from './webhook-reader.ts'

const idOf = (ids: readonly string[]): string => ids[0] ?? ''

/** Handlers for organizations and their direct parts. */
export const organizationHandlers = (rooms: Rooms) => {
  return {
    listOrganizations: async ({ organizationIds }) => {
      const results = await rooms.organizations.list(organizationIds)
      return { ...results[0], results }
    },
    createOrganization: ({ caller, body }) => rooms.organizations.create(caller, body),
    deleteOrganization: async ({ target }) => void (await rooms.organizations.remove(target)),
    getOrganization: async ({ target }) => organizationRecord(target),
    editOrganization: ({ target, body }) => rooms.organizations.edit(target, body),
    rotateOrganizationKeys: ({ target }) => rooms.keyRotations.rotate(target.id),
    getOrganizationKeyRotation: ({ target }) => rooms.keyRotations.get(target.id),

    listProjects: async ({ target, caller }) => {
      const projects = await rooms.projects.list(target.id)
      return { results: projects.filter(({ id }) => visible(caller).project(id)) }
    },
    createProject: ({ target, body }) => rooms.projects.create(target.id, body),
    getProject: async ({ target }) => projectRecord(target),
    editProject: ({ target, body }) => rooms.projects.edit(target, body),
    deleteProject: async ({ target }) => void (await rooms.projects.remove(target)),

    listApiTokens: async ({ target, query }) => ({ results: await rooms.apiTokens.list(target.id, query) }),
    createApiToken: ({ target, caller, body }) => rooms.apiTokens.create(target.id, caller, body),
    listPolicyApiTokens: async () => ({ results: [] }),
    deleteApiToken: async ({ target, ids }) => void (await rooms.apiTokens.remove(target.id, idOf(ids))),

    listGitTokens: async ({ target }) => ({ results: await rooms.gitTokens.list(target.id) }),
    createGitToken: ({ target, body }) => rooms.gitTokens.create(target.id, body),
    getGitToken: ({ target, ids }) => rooms.gitTokens.get(target.id, idOf(ids)),
    editGitToken: ({ target, ids, body }) => rooms.gitTokens.edit(target.id, idOf(ids), body),
    deleteGitToken: async ({ target, ids }) => void (await rooms.gitTokens.remove(target.id, idOf(ids))),

    listWebhooks: async ({ target, caller }) => ({
      results: await rooms.webhooks.list(target.id, await webhookReader(rooms, target.id, caller)),
    }),
    createWebhook: ({ target, body }) => rooms.webhooks.create(target.id, body),
    getWebhook: async ({ target, ids, caller }) =>
      rooms.webhooks.get(target.id, idOf(ids), await webhookReader(rooms, target.id, caller)),
    editWebhook: ({ target, ids, body }) => rooms.webhooks.edit(target.id, idOf(ids), body),
    deleteWebhook: async ({ target, ids }) => void (await rooms.webhooks.remove(target.id, idOf(ids))),
    listWebhookDeliveries: async ({ target, ids, caller }) => ({
      results: await rooms.webhooks.deliveries(target.id, idOf(ids), await webhookReader(rooms, target.id, caller)),
    }),
    replayWebhookDelivery: ({ target, ids }) => rooms.webhooks.replay(target.id, idOf(ids), ids[1] ?? ''),
  } satisfies Partial<Handlers>
}
