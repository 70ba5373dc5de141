import type { Database } from '../database/index.ts'
import type { Logger } from '../lib/log.ts'
import { pruneContacts, type RepositoryContact, upsertContact } from './repository-access-store.ts'

/**
 * The number of contacts kept for repositories without a service: a form reads a repository before
 * its service exists.
 */
const keptUnused = 100

/**
 * Creates a function that stores the result of each contact with a repository. A contact that
 * cannot be stored never fails the read itself.
 */
export const createRepositoryAccess =
  ({ database, log }: { readonly database: Database; readonly log: Logger }) =>
  async (contact: RepositoryContact): Promise<void> => {
    try {
      if (await upsertContact(database, contact)) await pruneContacts(database, contact.organizationId, keptUnused)
    } catch (error) {
      log.warn({ err: error, organizationId: contact.organizationId }, 'contact with a repository not stored')
    }
  }
