import { readFile } from 'node:fs/promises'
import { startDeadline } from '../lib/deadline.ts'
import { messageOf } from '../lib/error.ts'
import { RefusedError } from './authority.ts'
import type { DnsRecord, DnsRecords } from './dns-records.ts'

/** A program of the operator that changes DNS. It speaks the protocol `httpreq` of lego. */
export interface DnsWebhook {
  /** Below it are `/present` and `/cleanup`. */
  readonly url: string
  /** The file with the value of the header `Authorization`. Undefined: none is sent. */
  readonly authorizationFile?: string
}

const requestMs = 30_000
const longestAnswer = 200

/** Creates records by requests to the operator's program. */
export function createDnsWebhook(options: DnsWebhook): DnsRecords {
  return {
    add: (record, signal) => send(options, 'present', record, signal),
    remove: (record, signal) => send(options, 'cleanup', record, signal),
  }
}

async function send(
  { url, authorizationFile }: DnsWebhook,
  action: 'present' | 'cleanup',
  { name, value }: DnsRecord,
  signal: AbortSignal,
): Promise<void> {
  const failed = (reason: string, cause?: unknown) =>
    new RefusedError(`The webhook of DNS did not accept ${action}: ${reason}.`, { cause })
  try {
    const authorization = authorizationFile && (await readFile(authorizationFile, 'utf8')).trim()
    const response = await fetch(`${url.replace(/\/$/, '')}/${action}`, {
      method: 'POST',
      redirect: 'error',
      headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
      body: JSON.stringify({ fqdn: `${name}.`, value }),
      signal: startDeadline(requestMs, signal).signal,
    })
    const answer = (await response.text()).slice(0, longestAnswer)
    if (!response.ok) throw failed(`status ${response.status} ${answer}`.trim())
  } catch (cause) {
    if (signal.aborted || cause instanceof RefusedError) throw cause
    throw failed(messageOf(Object(cause).cause ?? cause), cause)
  }
}
