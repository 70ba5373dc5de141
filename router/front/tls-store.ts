import { createHash } from 'node:crypto'
import type { TlsCertificate } from '@quayside/contract/routes.ts'
import { askFront, changeFront } from './admin-socket.ts'
import type { FrontFiles } from './front-files.ts'

/** The certificates in HAProxy: the host of each by its name there. */
export type StoredCertificates = ReadonlyMap<string, string>

/** Returns the name of a certificate in HAProxy. Another certificate of a host has another name. */
export function nameOfCertificate({ host, chain, key }: TlsCertificate): string {
  const mark = createHash('sha256').update(chain).update(key).digest('hex').slice(0, 16)
  return `${host.replace('*', '_')}.${mark}.pem`
}

/** Returns the certificates that HAProxy serves. */
export async function storedCertificates({ admin, certificates }: FrontFiles): Promise<StoredCertificates> {
  const text = await askFront(admin, `show ssl crt-list ${certificates}`)
  return new Map([...text.matchAll(/^([^\s#]\S*\.pem) (\S+)$/gm)].map(([, name = '', host = '']) => [name, host]))
}

/**
 * Brings HAProxy's certificates to the wanted ones, in its memory only. A new certificate of a host
 * is served before the previous one is removed. Returns those that HAProxy refuses, with its
 * message.
 */
export async function storeCertificates(
  files: FrontFiles,
  stored: StoredCertificates,
  wanted: readonly TlsCertificate[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Set<string>()
  const refused = new Map<string, string>()
  for (const one of wanted) {
    const name = nameOfCertificate(one)
    names.add(name)
    if (stored.has(name)) continue
    try {
      await add(files, name, one)
    } catch (error) {
      refused.set(one.host, error instanceof Error ? error.message : String(error))
    }
  }
  for (const name of stored.keys()) if (!names.has(name)) await remove(files, name)
  return refused
}

async function add({ admin, certificates }: FrontFiles, name: string, one: TlsCertificate): Promise<void> {
  const text = `${one.chain.trim()}\n${one.key.trim()}`.replace(/\n\s*\n/g, '\n')
  // A store that an interrupted change left already exists, and is filled again.
  const fill = `new ssl cert ${name}; set ssl cert ${name} <<\n${text}\n`
  await changeFront(admin, fill, /Transaction (?:created|updated)/)
  const serve = `commit ssl cert ${name}; add ssl crt-list ${certificates} <<\n${name} ${one.host}\n`
  await changeFront(admin, serve, /Success![\s\S]*Success!/)
}

async function remove({ admin, certificates }: FrontFiles, name: string): Promise<void> {
  await changeFront(admin, `del ssl crt-list ${certificates} ${name}`, /deleted in crtlist/)
  await changeFront(admin, `del ssl cert ${name}`, /deleted!/)
}
