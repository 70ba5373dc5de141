import { Resolver } from 'node:dns/promises'
import type { Clock } from '../lib/clock.ts'
import { RefusedError } from './authority.ts'
import type { NamedHost } from './certificate-name.ts'
import type { DnsRecord, DnsRecords } from './dns-records.ts'

/** How hosts prove themselves in the operator's DNS. */
export interface DnsProofOptions {
  /** The domain of the platform, in whose zone records are made. */
  readonly domain: string
  readonly records: DnsRecords
  /** The name servers to ask, `address` or `address:port`. Empty: this machine's name servers. */
  readonly nameServers: readonly string[]
  readonly clock: Clock
}

/** Proves hosts by TXT records (DNS-01). Methods throw RefusedError. */
export interface DnsProof {
  readonly domain: string
  /** Returns the name of the record that proves a host. */
  place(host: NamedHost, signal: AbortSignal): Promise<string>
  /**
   * Whether the DNS of a host leads its proof to the platform. Undefined: DNS does not answer.
   * Rejects only with the reason of the signal.
   */
  leads(host: NamedHost, signal: AbortSignal): Promise<boolean | undefined>
  /** Adds a record, and returns once the name servers of its zone have it. */
  show(record: DnsRecord, signal: AbortSignal): Promise<void>
  remove(record: DnsRecord, signal: AbortSignal): Promise<void>
}

const patience = { timeout: 2000, tries: 2 } as const
const seenMs = 60_000
const pauseMs = 1000

export function createDnsProof(options: DnsProofOptions): DnsProof {
  const { domain, records, nameServers, clock } = options
  const open = (servers: readonly string[]): Resolver => {
    const resolver = new Resolver(patience)
    if (servers.length > 0) resolver.setServers([...servers])
    return resolver
  }
  const usual = () => open(nameServers)
  return {
    domain,
    place: (host, signal) => placeOf(usual(), recordNames(host, domain), signal),
    leads: async (host, signal) => {
      const names = recordNames(host, domain)
      const found = await targetsOf(usual(), names.own, signal)
      return found && leadsTo(found, names.target)
    },
    remove: (record, signal) => records.remove(record, signal),
    show: async (record, signal) => {
      await records.add(record, signal)
      const servers = await serversOf(usual(), record.name)
      const last = clock.now().getTime() + seenMs
      while (clock.now().getTime() < last && !(await isSeen(servers, record, usual, open))) {
        await clock.sleep(pauseMs, signal)
      }
    },
  }
}

/** The name of the record of a host, and the one to which its DNS must lead if it differs. */
export interface RecordNames {
  readonly own: string
  readonly target: string
}

/**
 * Pure: returns the names of the record of a host. Only the platform's own names need no other. A
 * user names the domain of a cluster without a proof, so it needs the id of the cluster in every
 * case: by this record, the owner of the domain decides which cluster has the certificate.
 */
export function recordNames({ host, cluster }: NamedHost, domain: string): RecordNames {
  const base = host.replace(/^\*\./, '')
  const own = `_acme-challenge.${base}`
  if (cluster !== undefined) return { own, target: `${own}.${cluster}.${domain}` }
  return { own, target: base === domain || base.endsWith(`.${domain}`) ? own : `${own}.${domain}` }
}

async function placeOf(resolver: Resolver, { own, target }: RecordNames, signal: AbortSignal): Promise<string> {
  if (own === target) return own
  const found = await targetsOf(resolver, own, signal)
  if (!found) throw new RefusedError(`The name servers do not answer which CNAME ${own} has.`)
  if (leadsTo(found, target)) return target
  const seen = found.length === 0 ? 'it is missing' : `it leads to ${String(found[0]).slice(0, 253)}`
  throw new RefusedError(`The record ${own} CNAME ${target} is needed, and ${seen}.`, { isCheck: true })
}

const leadsTo = (found: readonly string[], target: string): boolean =>
  found.some((name) => name.toLowerCase().replace(/\.$/, '') === target)

const absent = new Set(['ENOTFOUND', 'ENODATA'])

/** Returns the names to which a name leads. Undefined if the name servers do not answer. */
async function targetsOf(
  resolver: Resolver,
  name: string,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const cancel = (): void => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    return await resolver.resolveCname(name)
  } catch (error) {
    signal.throwIfAborted()
    return isAbsent(error) ? [] : undefined
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** Returns the addresses of the name servers that have the zone of a name. */
async function serversOf(resolver: Resolver, name: string): Promise<readonly string[]> {
  const labels = name.split('.')
  for (let at = 1; at < labels.length - 1; at++) {
    const servers = await resolver.resolveNs(labels.slice(at).join('.')).catch((): string[] => [])
    if (servers.length === 0) continue
    const found = servers.map((server) => resolver.resolve4(server).catch((): string[] => []))
    return [...new Set((await Promise.all(found)).flat())]
  }
  return []
}

/**
 * Whether all name servers that answer have the record. If none answers, whether the usual ones
 * have it.
 */
async function isSeen(
  servers: readonly string[],
  record: DnsRecord,
  usual: () => Resolver,
  open: (servers: readonly string[]) => Resolver,
): Promise<boolean> {
  const answers = await Promise.all(servers.map((server) => ask(open([server]), record)))
  const known = answers.filter((one) => one !== undefined)
  return known.length > 0 ? known.every(Boolean) : ((await ask(usual(), record)) ?? false)
}

const isAbsent = (error: unknown): boolean => absent.has(String(Object(error)['code']))

/** Whether a name server has the record. Undefined if it does not answer. */
async function ask(resolver: Resolver, { name, value }: DnsRecord): Promise<boolean | undefined> {
  try {
    return (await resolver.resolveTxt(name)).some((chunks) => chunks.join('') === value)
  } catch (error) {
    return isAbsent(error) ? false : undefined
  }
}
