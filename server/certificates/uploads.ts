import { afterCommit, type Database, inTransaction, outsideUnit, type Sql } from '../database/index.ts'
import { touchRoutes } from '../domains/index.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf, notFound } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import type { Vault } from '../vault/index.ts'
import { checkUpload, type Upload } from './check-upload.ts'
import { uploadedKeyCell } from './own-columns.ts'
import { deleteUpload, lockUploadDomain, storeUpload, type UploadDomain } from './uploaded-store.ts'

export interface UploadsOptions {
  readonly database: Database
  readonly vault: Pick<Vault, 'seal'>
  readonly clock: Clock
  readonly log: Logger
  /** Returns once the routers of a host have the certificates of the database. */
  readonly serve: (host: string, signal: AbortSignal) => Promise<unknown>
}

/** The time limit of the router for new certificates. */
const serveMs = 5_000

/** Certificates that users upload for custom domains. */
export function createUploads({ database, vault, clock, log, serve }: UploadsOptions) {
  /** A router that does not answer in time gets the certificates with the next table. */
  const serveNow = (host: string): void =>
    void outsideUnit(() => serve(host, AbortSignal.timeout(serveMs))).catch((error: unknown) =>
      log.warn({ reason: messageOf(error) }, 'certificates are sent to the router later'),
    )
  const change = async (serviceId: string, id: string, work: (sql: Sql, domain: UploadDomain) => Promise<void>) => {
    const host = await inTransaction(database, async (sql) => {
      const domain = await lockUploadDomain(sql, serviceId, id)
      if (!domain) throw notFound('custom domain', id)
      await work(sql, domain)
      await touchRoutes(sql)
      return domain.domain
    })
    afterCommit(() => serveNow(host))
  }
  return {
    /** Stores a certificate for a custom domain. Throws `invalid`, `conflict`, `notFound`. */
    upload: (serviceId: string, id: string, upload: Upload): Promise<void> =>
      change(serviceId, id, async (sql, owner) => {
        const { domain, organization_id } = owner
        const now = clock.now()
        const { key, ...facts } = checkUpload(upload, domain, now)
        const sealed_key = await vault.seal(sql, organization_id, uploadedKeyCell(id), key)
        await storeUpload(sql, owner, { ...facts, sealed_key, uploaded_at: now })
      }),

    /** Deletes the uploaded certificate of a custom domain. Throws `notFound`. */
    remove: (serviceId: string, id: string): Promise<void> =>
      change(serviceId, id, async (sql) => {
        if (!(await deleteUpload(sql, id))) throw notFound('uploaded certificate of the custom domain', id)
      }),
  }
}

export type Uploads = ReturnType<typeof createUploads>
