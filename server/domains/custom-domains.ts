import { type Database, inTransaction, isUniqueViolation, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { notFound } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { takeRoom } from '../limits/index.ts'
import { sampleOf } from './ask-proof.ts'
import { judgeRivals } from './claim.ts'
import { type DomainPlace, toRecord } from './custom-domain-record.ts'
import {
  type CustomDomainRow,
  type CustomDomainValues,
  deleteCustomDomain,
  findCustomDomain,
  insertCustomDomain,
  listCustomDomains,
  lockOwner,
  updateCustomDomain,
} from './custom-domain-store.ts'
import { type CheckedDomain, judge, withCertificate } from './domain-check.ts'
import { parseDomain, refuseNamesOf } from './domain-name.ts'
import { hostName } from './host-names.ts'
import { assumedProof, type DomainProof, newProof, type ProofState, takenError } from './proof.ts'
import { listRivals, lockProofs, ownNames } from './proof-store.ts'
import type { NameServers } from './resolve.ts'
import { findTrafficPlace, replaceCustomHosts } from './route-store.ts'

export interface CustomDomainsOptions {
  readonly database: Database
  readonly clock: Clock
  /** The domain below which services get names. */
  readonly domain: string
  /** The address of the platform itself. */
  readonly ownHosts: readonly string[]
  readonly nameServers: NameServers
  readonly mode: DomainProof
  /** Whether the platform's own router speaks TLS. */
  readonly speaksTls?: boolean
  /** Whether it can have a certificate for a host. Every one by default. */
  readonly certifies?: (host: string) => boolean
}

/** The service that a custom domain leads to. */
export interface DomainOwner {
  readonly id: string
  readonly name: string
  readonly organization_id: string
}

export interface CustomDomainRequest {
  readonly domain: string
  readonly generate_certificate: boolean
  readonly use_cdn?: boolean
}

const checkMs = 2000

/**
 * Manages users' host names that lead to the default public port of a service. They take effect
 * without a deployment. A name gets traffic once DNS proves that the organization owns it.
 */
export function createCustomDomains(options: CustomDomainsOptions) {
  const { database, clock, domain: platform, mode } = options
  /** The platform's name of a service: the target of its CNAME records. */
  const placeOf = async (service: DomainOwner): Promise<DomainPlace> => {
    const place = await findTrafficPlace(database, service.id)
    const { speaksTls = false, certifies = () => true } = options
    const { issuer, domain, has_own_tls } = place
    return {
      issuer,
      hasController: domain !== null && !has_own_tls,
      speaksTls: speaksTls || has_own_tls,
      certifies,
      host: hostName(service, domain ?? platform),
    }
  }
  const record = async (service: DomainOwner, row: CustomDomainRow) => toRecord(row, await placeOf(service))
  const existing = async (sql: Sql, serviceId: string, id: string): Promise<CustomDomainRow> => {
    const row = await findCustomDomain(sql, serviceId, id)
    if (!row) throw notFound('custom domain', id)
    return row
  }
  const checked = (body: CustomDomainRequest): CustomDomainValues => ({
    domain: parseDomain(body.domain, { domain: platform, hosts: options.ownHosts }),
    generate_certificate: body.generate_certificate,
    use_cdn: body.use_cdn ?? false,
  })
  /** Services of the cluster have the names below its domain, and its certificate. */
  const refuseClusterNames = async (sql: Sql, { id }: DomainOwner, name: string): Promise<void> => {
    const { domain } = await findTrafficPlace(sql, id)
    if (domain !== null) refuseNamesOf(domain, name)
  }
  /**
   * Returns the proof of a new name. Throws 409 if another organization has proven the name.
   * `more`: how many more names wait for a proof then.
   */
  const claim = async (sql: Sql, { organization_id }: DomainOwner, domain: string, more = 1): Promise<ProofState> => {
    const assumed = assumedProof(domain, mode)
    const rivals = await listRivals(sql, organization_id, domain)
    if (judgeRivals(domain, assumed ?? 'CNAME', rivals, clock.now()).blocking) throw takenError(domain)
    if (assumed === undefined) await takeRoom(sql, 'unprovenDomains', organization_id, more)
    return newProof(clock.now(), assumed)
  }
  /** Does the work under the locks, in the order in which proofs take them. */
  const locked = <T>(service: DomainOwner, work: (sql: Sql) => Promise<T>): Promise<T> =>
    inTransaction(database, async (sql) => {
      await lockProofs(sql)
      await lockOwner(sql, service.id)
      const result = await work(sql)
      await replaceCustomHosts(sql, service.id, clock.now())
      return result
    })

  return {
    async list(service: DomainOwner) {
      const place = await placeOf(service)
      return (await listCustomDomains(database, service.id)).map((row) => toRecord(row, place))
    },

    async get(service: DomainOwner, id: string) {
      return record(service, await existing(database, service.id, id))
    },

    async create(service: DomainOwner, body: CustomDomainRequest) {
      const values = checked(body)
      const row = await locked(service, async (sql) => {
        await refuseClusterNames(sql, service, values.domain)
        const owner = { id: newId(), service_id: service.id, organization_id: service.organization_id }
        const proof = await claim(sql, service, values.domain)
        await insertCustomDomain(sql, { ...values, ...proof, ...owner }, clock.now())
        return existing(sql, service.id, owner.id)
      }).catch(taken(values.domain))
      return record(service, row)
    },

    /**
     * Changes a domain. Another name needs its own proof. The same name keeps its proof and is
     * checked at once.
     */
    async edit(service: DomainOwner, id: string, body: CustomDomainRequest) {
      const values = checked(body)
      const row = await locked(service, async (sql) => {
        const before = await existing(sql, service.id, id)
        if (before.domain !== values.domain) await refuseClusterNames(sql, service, values.domain)
        const more = before.proof === null && before.next_ask_at !== null ? 0 : 1
        const proof =
          before.domain === values.domain
            ? askedAnew(before, clock.now())
            : await claim(sql, service, values.domain, more)
        await updateCustomDomain(sql, id, { ...values, ...proof }, clock.now())
        return existing(sql, service.id, id)
      }).catch(taken(values.domain))
      return record(service, row)
    },

    async remove(service: DomainOwner, id: string): Promise<void> {
      await locked(service, async (sql) => {
        await existing(sql, service.id, id)
        await deleteCustomDomain(sql, id)
      })
    },

    /**
     * Checks the DNS of all these domains. Names without an answer within two seconds are failures.
     * Throws if `waiting` is aborted first.
     */
    async check(service: DomainOwner, waiting?: AbortSignal): Promise<CheckedDomain[]> {
      const rows = await listCustomDomains(database, service.id)
      const place = await placeOf(service)
      const { host } = place
      const names = rows.map(({ domain }) => sampleOf(domain))
      waiting?.throwIfAborted()
      const signal = AbortSignal.timeout(checkMs)
      const [own, ...found] = rows.length === 0 ? [] : await options.nameServers.resolve([host, ...names], signal)
      const aliases = found.flatMap(({ alias }) => alias ?? [])
      const ownAliases = await ownNames(database, service.organization_id, aliases, platform)
      const target = { host, ownAliases, resolved: own ?? { addresses: [] } }
      return rows.map((row, index) => {
        const one = toRecord(row, place)
        return withCertificate(judge(one, target, found[index] ?? { addresses: [] }), one)
      })
    },
  }
}

/** Makes a released or pending name due for a check. Restarts the time limit of a released name. */
const askedAnew = ({ proof, proven_at, lost_since, pending_since, finding }: ProofState, now: Date): ProofState => ({
  proof,
  proven_at,
  lost_since,
  finding,
  pending_since: proof === null ? now : pending_since,
  next_ask_at: now,
  asks: 0,
})

const taken =
  (domain: string) =>
  (error: unknown): never => {
    if (!isUniqueViolation(error)) throw error
    throw takenError(domain, error)
  }
