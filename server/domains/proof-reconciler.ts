import type { Database, DueReconciler } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import { askProof } from './ask-proof.ts'
import type { DomainProof } from './proof.ts'
import { type DueDomain, isDomainDue, listDueDomains, ownNames } from './proof-store.ts'
import { type ProofResult, storeEvidence } from './prove.ts'
import type { NameServers } from './resolve.ts'

export interface ProofReconcilerOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  readonly nameServers: NameServers
  /** The domain below which services get names. */
  readonly platform: string
  readonly mode: DomainProof
  /** Called after the route table has changed. */
  readonly nudgeRoutes: () => void
}

/** Concurrent checks. Unresponsive name servers delay only their own organization. */
const slots = { each: 4, most: 20 } as const

/** Checks the DNS of custom domains that are due. */
export function createProofReconciler(options: ProofReconcilerOptions): DueReconciler {
  const { database, clock, log, nudgeRoutes } = options
  const isOwn = async (organizationId: string, name: string): Promise<boolean> =>
    (await ownNames(database, organizationId, [name], options.platform)).has(name)
  const ask = async (due: DueDomain, signal: AbortSignal): Promise<void> => {
    const evidence = await askProof({ ...options, isOwn }, due, signal)
    // A stopping server has no answer. The next one checks again.
    if (signal.aborted) return
    const result = await storeEvidence({ database, clock }, due, evidence)
    if (!result) return
    report(log, due, result)
    if (result.change === 'proven' || result.displaced.length > 0) nudgeRoutes()
  }
  return {
    name: 'domains',
    everyMs: 60_000,
    due: (sql) => isDomainDue(sql, clock.now()),
    reconcile: async (signal) => {
      const due = await listDueDomains(database, clock.now(), slots)
      await Promise.all(due.map((one) => ask(one, signal)))
    },
  }
}

function report(log: Logger, { id, domain, service_id, organization_id }: DueDomain, result: ProofResult): void {
  const where = { domain, customDomainId: id, serviceId: service_id, organizationId: organization_id }
  if (result.change === 'lost') log.warn(where, 'custom domain lost its proof in DNS; it keeps its traffic')
  else if (result.change) log.info({ ...where, change: result.change }, 'proof of a custom domain changed')
  for (const rival of result.displaced) {
    log.warn(
      { ...where, displaced: rival.domain, displacedServiceId: rival.service_id },
      'custom domain lost its traffic: DNS names another organization',
    )
  }
}
