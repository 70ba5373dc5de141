import type { HostCertificate, Route, TlsCertificate } from '@quayside/contract/routes.ts'
import { createLocalAuthority } from '../server/certificates/local.ts'
import { rulesOf } from '../server/domains/route-rules.ts'
import { systemClock as clock } from '../server/lib/clock.ts'
import type { TlsSource } from '../server/routers/tls-source.ts'

export const hostCount = 10_000

/** The name of one of the hosts. */
export const hostAt = (index: number): string => `app-${index}.test`

/** Returns the route of one of the hosts, with the rules that every application has. */
export const routeAt = (index: number, port: number): Route => ({
  host: hostAt(index),
  service: `s${index}`,
  name: 'shop',
  rules: rulesOf('application', {}) ?? {},
  endpoints: [{ address: '127.0.0.1', port }],
  tls: { from: 'platform', redirects: false },
})

/** Returns the certificates of all hosts. Each has a key of its own. It takes about ten seconds. */
export function certifiedHosts(): Promise<TlsSource> {
  made ??= makeAll()
  return made
}

let made: Promise<TlsSource> | undefined

async function makeAll(): Promise<TlsSource> {
  const authority = createLocalAuthority({ clock, publishRoot: async () => {} })
  const signal = AbortSignal.timeout(300_000)
  const account = await authority.register(signal)
  const certificates: TlsCertificate[] = []
  for (let index = 0; index < hostCount; index++) {
    const host = hostAt(index)
    const { chain, key } = await authority.order(account, { host, kind: 'http-01' }, async () => {}, signal)
    certificates.push({ host, chain, key: key.reveal() })
  }
  return {
    mark: async () => 'bench',
    material: async () => ({ certificates, challenges: [] }),
    states: async () => new Map<string, HostCertificate>(),
  }
}
