import type { DnsProofOptions } from './dns-proof.ts'
import type { DnsRecords } from './dns-records.ts'
import { createDnsWebhook, type DnsWebhook } from './dns-webhook.ts'
import { createDynamicUpdates, type DynamicUpdates } from './nsupdate.ts'

/** The operator's DNS, in which wildcards prove themselves. */
export interface DnsSettings extends Pick<DnsProofOptions, 'domain' | 'nameServers'> {
  /** How its records are changed. */
  readonly by: { readonly webhook: DnsWebhook } | { readonly updates: DynamicUpdates }
}

export const recordsBy = (by: DnsSettings['by']): DnsRecords =>
  'webhook' in by ? createDnsWebhook(by.webhook) : createDynamicUpdates(by.updates)
