import { type Database, inTransaction, isUniqueViolation, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import {
  type CustomDomainRow,
  type CustomDomainValues,
  countCustomDomains,
  deleteCustomDomain,
  findCustomDomain,
  insertCustomDomain,
  listCustomDomains,
  updateCustomDomain,
} from './custom-domain-store.ts'
import { type CheckedDomain, judge } from './domain-check.ts'
import { checkDomain } from './domain-name.ts'
import { hostName } from './host-names.ts'
import type { Resolve } from './resolve.ts'
import { replaceCustomHosts } from './route-store.ts'

export interface CustomDomainsOptions {
  readonly database: Database
  readonly clock: Clock
  /** Under which the platform gives names. */
  readonly domain: string
  /** Where the platform itself is reached. */
  readonly ownHosts: readonly string[]
  readonly resolve: Resolve
}

/** The service that a custom domain leads to. */
export interface DomainOwner {
  readonly id: string
  readonly name: string
}

export interface CustomDomainRequest {
  readonly domain: string
  readonly generate_certificate: boolean
  readonly use_cdn?: boolean
}

const mostDomains = 50
const checkMs = 2000

/** Host names of users that lead to the default public port of a service. They answer at once, without a deployment. */
export function createCustomDomains(options: CustomDomainsOptions) {
  const { database, clock, domain: platform } = options
  const record = (service: DomainOwner, row: CustomDomainRow) => ({
    ...row,
    validation_domain: hostName(service, platform),
    status: 'VALIDATION_PENDING' as const,
  })
  const existing = async (sql: Sql, serviceId: string, id: string): Promise<CustomDomainRow> => {
    const row = await findCustomDomain(sql, serviceId, id)
    if (!row) throw new AppError('notFound', 'There is no such object.')
    return row
  }
  const checked = (body: CustomDomainRequest): CustomDomainValues => ({
    domain: checkDomain(body.domain, { domain: platform, hosts: options.ownHosts }),
    generate_certificate: body.generate_certificate,
    use_cdn: body.use_cdn ?? false,
  })

  return {
    async list(service: DomainOwner) {
      return (await listCustomDomains(database, service.id)).map((row) => record(service, row))
    },

    async get(service: DomainOwner, id: string) {
      return record(service, await existing(database, service.id, id))
    },

    async create(service: DomainOwner, body: CustomDomainRequest) {
      const values = checked(body)
      const row = await inTransaction(database, async (sql) => {
        if ((await countCustomDomains(sql, service.id)) >= mostDomains) {
          throw new AppError('conflict', `A service has at most ${mostDomains} custom domains; delete one first.`)
        }
        const id = newId()
        await insertCustomDomain(sql, { ...values, id, service_id: service.id }, clock.now())
        await replaceCustomHosts(sql, service.id, clock.now())
        return existing(sql, service.id, id)
      }).catch(taken(values.domain))
      return record(service, row)
    },

    async edit(service: DomainOwner, id: string, body: CustomDomainRequest) {
      const values = checked(body)
      const row = await inTransaction(database, async (sql) => {
        await countCustomDomains(sql, service.id)
        await existing(sql, service.id, id)
        await updateCustomDomain(sql, id, values, clock.now())
        await replaceCustomHosts(sql, service.id, clock.now())
        return existing(sql, service.id, id)
      }).catch(taken(values.domain))
      return record(service, row)
    },

    async remove(service: DomainOwner, id: string): Promise<void> {
      await inTransaction(database, async (sql) => {
        await countCustomDomains(sql, service.id)
        await existing(sql, service.id, id)
        await deleteCustomDomain(sql, id)
        await replaceCustomHosts(sql, service.id, clock.now())
      })
    },

    /** Asks DNS for all of them; what does not answer within two seconds is a failure. */
    async check(service: DomainOwner): Promise<CheckedDomain[]> {
      const rows = await listCustomDomains(database, service.id)
      const host = hostName(service, platform)
      // Any label stands for a wildcard.
      const names = rows.map(({ domain }) => domain.replace(/^\*/, 'any'))
      const signal = AbortSignal.timeout(checkMs)
      const [own, ...found] = rows.length === 0 ? [] : await options.resolve([host, ...names], signal)
      const target = { host, resolved: own ?? { addresses: [] } }
      return rows.map((row, index) => judge(row, target, found[index] ?? { addresses: [] }))
    },
  }
}

const taken =
  (domain: string) =>
  (error: unknown): never => {
    if (!isUniqueViolation(error)) throw error
    throw new AppError('conflict', `The domain "${domain}" is in use already.`, { cause: error })
  }
