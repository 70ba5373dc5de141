import { messageOf } from '../lib/error.ts'
import { run } from '../lib/run.ts'
import { RefusedError } from './authority.ts'
import type { DnsRecord, DnsRecords } from './dns-records.ts'

/** How dynamic updates (RFC 2136) reach the operator's DNS. */
export interface DynamicUpdates {
  /** The program `nsupdate` of BIND, a path or a name. */
  readonly program: string
  /** The file with the TSIG key, as `tsig-keygen` writes it. */
  readonly keyFile: string
  /** The primary server, `host` or `host:port`. Undefined: the one that the SOA record names. */
  readonly server?: string
}

const updateMs = 30_000
const recordSeconds = 60

/** Creates records by dynamic updates, signed with the operator's key. */
export function createDynamicUpdates(options: DynamicUpdates): DnsRecords {
  const send = (change: string, signal: AbortSignal): Promise<void> => update(options, change, signal)
  return {
    add: ({ name, value }, signal) => send(`add ${name}. ${recordSeconds} TXT "${plain(value)}"`, signal),
    remove: ({ name, value }, signal) => send(`delete ${name}. TXT "${plain(value)}"`, signal),
  }
}

/** A value is a digest in base64url. Anything else could be another command of the program. */
function plain(value: DnsRecord['value']): string {
  if (!/^[\w-]{1,255}$/.test(value)) throw new Error('the value of a record must be base64url')
  return value
}

async function update({ program, keyFile, server }: DynamicUpdates, change: string, signal: AbortSignal) {
  const [, host = server, port = '53'] = /^(.*?)(?::(\d+))?$/.exec(server ?? '') ?? []
  const commands = [...(host ? [`server ${host} ${port}`] : []), `update ${change}`, 'send', '']
  const stdin = commands.join('\n')
  const { exitCode, stderr, stdout } = await run(program, ['-k', keyFile, '-t', '20'], {
    stdin,
    signal,
    timeoutMs: updateMs,
  }).catch((cause: unknown) => {
    if (signal.aborted) throw cause
    throw new RefusedError(
      `The DNS record could not be changed: ${messageOf(cause)}. The package bind9-dnsutils has nsupdate.`,
      { cause },
    )
  })
  if (exitCode === 0) return
  const words = [stderr, String(stdout)].join(' ').replace(/\s+/g, ' ').trim()
  throw new RefusedError(`DNS did not accept the change: ${words || `nsupdate ended with ${exitCode}`}.`)
}
