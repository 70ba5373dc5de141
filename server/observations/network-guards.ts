import type { Config } from '../config.ts'
import { type NamedEngine, type NetworkGuards, type OpenPorts, reconcilerName, type Upkeep } from '../engines/index.ts'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import type { Reconciler } from '../lib/reconciler.ts'

type Listening = Pick<
  Config,
  'host' | 'port' | 'publicUrl' | 'routerHost' | 'routerPort' | 'routerTls' | 'publicPorts' | 'hostAccess'
>

const isLoopback = (host: string): boolean => /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|::1|\[::1\])$/i.test(host)

/**
 * Returns the ports of the machine that containers may reach: the platform's own public ports, the
 * port of its public URL (a proxy may listen there), and the ports that the operator opens.
 */
export function openPorts(config: Listening): OpenPorts[] {
  const port = (first: number, last = first, protocol: OpenPorts['protocol'] = 'tcp'): OpenPorts => ({
    first,
    last,
    protocol,
  })
  const url = new URL(config.publicUrl)
  const { first, last } = config.publicPorts
  const router = [port(config.routerPort), ...(config.routerTls ? [port(config.routerTls.port)] : [])]
  const open = [
    ...(isLoopback(config.host) ? [] : [port(config.port)]),
    ...(isLoopback(url.hostname) ? [] : [port(Number(url.port) || (url.protocol === 'https:' ? 443 : 80))]),
    ...(isLoopback(config.routerHost) ? [] : [...router, port(first, last), port(first, last, 'udp')]),
    ...(config.hostAccess === 'open' ? [] : config.hostAccess),
  ]
  return [...new Map(open.map((ports) => [JSON.stringify(ports), ports])).values()]
}

/**
 * Keeps containers and build steps away from a cloud's metadata service, from programs of the
 * machine and from each other. Sets the rules up again if someone resets the firewall.
 */
export function createNetworkGuards(
  { config, log }: { readonly config: Listening & Pick<Config, 'cloudMetadata'>; readonly log: Logger },
  { name, engine }: NamedEngine<Upkeep>,
): Reconciler {
  const metadata = config.cloudMetadata
  const host = config.hostAccess === 'open' ? 'open' : openPorts(config)
  // An open access is opened only once, because another installation on the machine may keep it
  // closed.
  const kept: NetworkGuards = {
    metadata: metadata === 'closed' ? metadata : undefined,
    host: host === 'open' ? undefined : host,
  }
  let wanted: NetworkGuards = { metadata, host }
  let failure: string | undefined
  return {
    name: reconcilerName('network guards', name),
    everyMs: 60_000,
    async reconcile(signal) {
      try {
        const isChanged = await engine.guardNetworks(wanted, signal)
        if (isChanged) log.info({ metadata, host }, 'packet filter set up for containers and builds')
        failure = undefined
        wanted = kept
      } catch (error) {
        signal.throwIfAborted()
        const reason = messageOf(error)
        // Once for each reason, because it mostly stays the same.
        if (reason !== failure)
          log.warn({ metadata, host, reason }, 'packet filter not set up for containers and builds')
        failure = reason
      }
    },
  }
}
