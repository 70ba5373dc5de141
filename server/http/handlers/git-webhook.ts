import { mayUseRepository, type Place } from '@quayside/contract/roles.ts'
import { visible } from '../../access/index.ts'
import type { Handlers } from '../call.ts'
import type { Rooms } from './rooms.ts'

const idOf = (ids: readonly string[]): string => ids[0] ?? ''

/** Handlers for webhooks of git providers, and for the pushes that they reported. */
export const gitWebhookHandlers = ({ gitWebhooks, pushRecords }: Rooms) =>
  ({
    listGitWebhooks: async ({ target }) => ({ results: await gitWebhooks.list(target.id) }),
    createGitWebhook: ({ target, body }) => gitWebhooks.create(target.id, body),
    rotateGitWebhookSecret: ({ target, ids }) => gitWebhooks.rotate(target.id, idOf(ids)),
    deleteGitWebhook: async ({ target, ids }) => void (await gitWebhooks.remove(target.id, idOf(ids))),
    listGitWebhookDeliveries: async ({ target, ids }) => ({
      results: await gitWebhooks.deliveries(target.id, idOf(ids)),
    }),
    listGitPushes: async ({ target, caller }) => {
      const { all, environment } = visible(caller)
      const repository = (usedAt: readonly Place[]): boolean => mayUseRepository(caller.rights, 'read', usedAt)
      return { results: await pushRecords.list(target.id, { all, environment, repository }) }
    },
  }) satisfies Partial<Handlers>
