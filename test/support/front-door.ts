import { startNameServer } from './name-server.ts'
import { type Pebble, startPebble } from './pebble/pebble.ts'

/** An authority for the names of a platform, and the settings with which the platform asks it. */
export interface DoorAuthority {
  readonly pebble: Pebble
  readonly settings: Readonly<Record<string, string>>
}

/**
 * Starts Let's Encrypt's test server and a name server that leads all names below the domain to
 * this machine. Both end with the test. Returns undefined if this machine cannot build them.
 */
export async function startDoorAuthority(
  t: { after(work: () => Promise<void>): void },
  { domain, ...ports }: { readonly domain: string; readonly httpPort: number; readonly tlsPort?: number },
): Promise<DoorAuthority | undefined> {
  const names = await startNameServer(t)
  names.zones.set(`*.${domain}`, { A: '127.0.0.1' })
  const pebble = await startPebble(t, { nameServer: names.address, ...ports })
  if (!pebble) return undefined
  return {
    pebble,
    settings: {
      QUAYSIDE_DOMAIN: domain,
      QUAYSIDE_ACME_DIRECTORY: pebble.directory,
      NODE_EXTRA_CA_CERTS: pebble.serverRoot,
    },
  }
}
