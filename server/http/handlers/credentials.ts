import type { Handlers } from '../call.ts'
import type { Rooms } from './rooms.ts'

const idOf = (ids: readonly string[]): string => ids[0] ?? ''

/** Handlers for credentials of cloud providers. The operation names the provider. */
export const credentialsHandlers = ({ credentials }: Rooms) =>
  ({
    listAllCredentials: async ({ target }) => ({ results: await credentials.listAll(target.id) }),
    listCredentials: async ({ target, provider }) => ({ results: await credentials.list(target.id, provider) }),
    createCredentials: ({ target, provider, body }) => credentials.create(target.id, provider, body),
    getCredentials: ({ target, provider, ids }) => credentials.get(target.id, provider, idOf(ids)),
    editCredentials: ({ target, provider, ids, body }) => credentials.edit(target.id, provider, idOf(ids), body),
    deleteCredentials: async ({ target, provider, ids }) =>
      void (await credentials.remove(target.id, provider, idOf(ids))),
  }) satisfies Partial<Handlers>
