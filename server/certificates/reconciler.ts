import { type Database, inTransaction } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { startDeadline } from '../lib/deadline.ts'
import type { Logger } from '../lib/log.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import type { Vault } from '../vault/index.ts'
import { accountOf, forgetAccount } from './account.ts'
import { type Account, type Authority, type Issued, type Order, type ProofKind, RefusedError } from './authority.ts'
import { type CertificateName, hostIn } from './certificate-name.ts'
import {
  beginAttempt,
  type DueHost,
  deleteLeft,
  lastProvenKind,
  listDueHosts,
  storeCertificate,
  storeFailure,
} from './certificate-store.ts'
import type { DnsProof } from './dns-proof.ts'
import { isLost, listLostDomains } from './lost-domain-store.ts'
import { hostKeyCell } from './own-columns.ts'
import { isCertifiable, nextKind, renewalAt, retryAt } from './policy.ts'
import { publishProof, withdrawProof } from './publish-proof.ts'
import { followWindows } from './renewal-windows.ts'
import { scopeOf } from './scope.ts'
import { type Serving, serveIssued } from './serve-in-time.ts'
import { createOrders } from './work-off.ts'

export interface CertificateOptions extends Serving {
  readonly database: Database
  readonly vault: Pick<Vault, 'state' | 'open' | 'sealOwn' | 'openOwn'>
  readonly clock: Clock
  readonly log: Logger
  /** The address of the authority's directory. */
  readonly directory: string
  /** The names of the platform itself. The router of this machine serves them. */
  readonly hosts: readonly string[]
  /** Loads the authority when it is first needed. */
  readonly authority: () => Promise<Authority>
  /** How wildcards prove themselves. Undefined: they get no certificate from an authority. */
  readonly dns?: DnsProof | undefined
  /** The time of one run, which longer orders outlast. 15 s by default. */
  readonly runMs?: number
}

/** Orders at the same time, by organization for the router of this machine, and by cluster. */
const limitsAt = {
  machine: { all: 4, ofOne: 3, reserve: 4 },
  clusters: { all: 16, ofOne: 1, reserve: 0 },
} as const
const usualRunMs = 15_000
/** The time limit of one order. */
const orderMs = 3 * 60_000
/** A saved domain is tried at once only if its last attempt is at least this old. */
const savedPauseMs = 60_000

/** Orders and renews the certificates of hosts that are in the route table. */
export function createCertificateReconciler(options: CertificateOptions): Reconciler {
  const { database, clock, directory, dns, vault, at } = options
  const scope = scopeOf(options)
  const orders = createOrders<DueHost>({
    ...options,
    limits: limitsAt[at],
    runMs: options.runMs ?? usualRunMs,
    ownerOf: ({ organization, place }) => (at === 'machine' ? organization : place),
    attempt: (one, signal) => attempt(options, one, signal),
  })
  return {
    name: at === 'machine' ? 'certificates' : 'certificates-of-clusters',
    everyMs: 5_000,
    reconcile: async (signal) => {
      if (!vault.state.open) return
      const now = clock.now()
      await deleteLeft(database, { ...scope, own: options.hosts, at: 'everywhere' }, now)
      await followWindows(options, signal)
      const since = new Date(now.getTime() - savedPauseMs)
      const listed = await listDueHosts(database, scope, { now, since })
      const certifiable = listed.filter(({ host }) => isCertifiable(hostIn(host).host, directory, dns !== undefined))
      const lost = at === 'machine' || certifiable.length === 0 ? [] : await listLostDomains(database, now)
      await orders.workOff(
        certifiable.filter((one) => !isLost(one, lost)),
        signal,
      )
    },
  }
}

/**
 * Tries to get one certificate. Records a failure instead of throwing it, unless `signal` aborts.
 */
async function attempt(options: CertificateOptions, due: DueHost, signal: AbortSignal): Promise<void> {
  const { database, clock, log } = options
  const { host, failures, chain } = due
  const startedAt = clock.now()
  const kind = await kindOf(options, due)
  const due_at = retryAt(host, failures + 1, startedAt)
  await beginAttempt(database, { host, challenge_kind: kind, tried_at: startedAt, due_at })
  const deadline = startDeadline(orderMs, signal)
  try {
    await withdrawProof(options, due, deadline.signal)
    // An authority asks for no proof of a name that this account has proven before, for whomever.
    if (kind === 'dns-01') await options.dns?.place(hostIn(host), deadline.signal)
    await keep(
      options,
      host,
      await issue(
        options,
        { name: host, kind, triedAt: startedAt, ...(chain !== null && { replaces: chain }) },
        deadline.signal,
      ),
    )
    await serveIssued(options, host, signal)
    log.info({ host }, 'certificate issued')
  } catch (error) {
    if (signal.aborted) throw error
    if (!(error instanceof RefusedError) && !deadline.isOver) throw error
    const refused =
      error instanceof RefusedError
        ? error
        : new RefusedError(`The order took longer than ${orderMs / 60_000} minutes.`)
    await noteFailure(options, { host, failures: failures + 1, challenge_kind: kind }, refused)
  }
}

/** An attempt that failed. */
interface Failed {
  readonly host: string
  readonly failures: number
  readonly challenge_kind: ProofKind
}

/** Returns how the next attempt proves a host. A wildcard has no other way than DNS. */
async function kindOf({ database, dns }: CertificateOptions, { host, challenge_kind }: DueHost): Promise<ProofKind> {
  if (dns && host.startsWith('*.')) return 'dns-01'
  const known = challenge_kind === 'dns-01' ? undefined : challenge_kind
  return known ?? (await lastProvenKind(database)) ?? 'http-01'
}

/** Records a failed attempt. `challenge_kind` is the kind that was tried. */
async function noteFailure(
  { database, clock, log }: CertificateOptions,
  { host, failures, challenge_kind: kind }: Failed,
  refused: RefusedError,
): Promise<void> {
  const now = clock.now()
  const due_at = retryAt(host, failures, now, refused.retryAfterSeconds)
  const challenge_kind = nextKind(kind, refused.isCheck)
  await storeFailure(database, { host, failures, challenge_kind, finding: refused.message, due_at }, now)
  log.warn({ host, failures, reason: refused.message, nextAttemptAt: due_at }, 'certificate failed')
}

/** A certificate that is ordered. */
interface Wanted extends Omit<Order, 'host'> {
  readonly name: CertificateName
  /** When the attempt began. */
  readonly triedAt: Date
}

/** Orders a certificate. An account that the authority has forgotten is created again once. */
async function issue(
  options: CertificateOptions,
  { name, triedAt, ...how }: Wanted,
  signal: AbortSignal,
): Promise<Issued> {
  const authority = await options.authority()
  const order = async (account: Account): Promise<Issued> => {
    await using shown = new AsyncDisposableStack()
    return await authority.order(
      account,
      { host: hostIn(name).host, ...how },
      async (proof) => {
        const withdraw = await publishProof(options, { name, proof, triedAt }, signal)
        // The attempt has ended without its library, and nothing else would remove the record.
        if (signal.aborted) await withdraw()
        signal.throwIfAborted()
        shown.defer(withdraw)
      },
      signal,
    )
  }
  const account = await accountOf(options, authority, signal)
  try {
    return await order(account)
  } catch (error) {
    if (!(error instanceof RefusedError) || !error.isAccountGone) throw error
    await forgetAccount(options, account)
    return order(await accountOf(options, authority, signal))
  }
}

const keep = ({ database, vault, clock }: CertificateOptions, host: string, issued: Issued): Promise<void> =>
  inTransaction(database, async (sql) => {
    const { chain, key, notBefore, notAfter } = issued
    const sealed_key = await vault.sealOwn(sql, hostKeyCell(host), key.reveal())
    const now = clock.now()
    const due_at = renewalAt(host, { notBefore, notAfter, orderedAt: now })
    await storeCertificate(sql, { host, chain, sealed_key, not_before: notBefore, not_after: notAfter, due_at }, now)
  })
