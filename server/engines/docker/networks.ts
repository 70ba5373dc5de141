import { createHash } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { parseId } from '../../lib/id.ts'
import { EngineError } from '../engine.ts'
import { absent, listContainers } from './containers.ts'
import { type DockerDaemon, isRefusal } from './daemon.ts'
import { label, labelFilter, networkName } from './labels.ts'

interface Owner {
  readonly daemon: DockerDaemon
  readonly clock: Clock
  readonly instance: string
  /** Networks that this process is creating, by environment. */
  readonly networksToCome: Map<string, Promise<string>>
}

/**
 * Creates the environment's network if it is missing. Concurrent calls share one network. Returns
 * its id.
 */
export async function ensureNetwork(owner: Owner, environment: string, signal: AbortSignal): Promise<string> {
  const toCome = owner.networksToCome.get(environment)
  // The creating call reports a failure. The calls that waited then try themselves.
  const id = toCome && (await toCome.catch(() => undefined))
  signal.throwIfAborted()
  return id ?? make(owner, environment, signal)
}

function make(owner: Owner, environment: string, signal: AbortSignal): Promise<string> {
  const making = findOrCreate(owner, environment, signal).finally(() => {
    if (owner.networksToCome.get(environment) === making) owner.networksToCome.delete(environment)
  })
  owner.networksToCome.set(environment, making)
  return making
}

async function findOrCreate(owner: Owner, environment: string, signal: AbortSignal): Promise<string> {
  for (let tries = 0; tries < 100; tries++) {
    const [there] = await networksOf(owner, environment, signal)
    if (there) return there.Id
    const made = await createNetwork(owner, environment, signal)
    if (made !== undefined) return made
    // Another process was first. Docker lists a network only when it is complete.
    await owner.clock.sleep(50, signal)
  }
  throw new EngineError(
    'unreachable',
    `network ${networkName(environment)} is being created by another process and does not appear; try again`,
  )
}

/** Removes the environment's network unless one of our containers still belongs to it. */
export async function eraseNetwork(owner: Owner, environment: string, signal: AbortSignal): Promise<void> {
  const filter = { instance: owner.instance, labels: { [label.environment]: environment } }
  if ((await listContainers(owner.daemon, filter, signal)).length > 0) return
  for (const network of await networksOf(owner, environment, signal))
    await removeNetwork(owner.daemon, network.Id, signal)
}

/** Lists the environments that have a network. */
export async function listNetworks(owner: Owner, signal: AbortSignal): Promise<string[]> {
  const found = await networksOf(owner, true, signal)
  return [...new Set(found.flatMap(({ Labels }) => parseId(Labels?.[label.environment] ?? '') ?? []))]
}

interface Network {
  readonly Id: string
  readonly Labels?: Readonly<Record<string, string>> | null
}

/** Lists the networks of an environment, or of all environments. */
async function networksOf(owner: Owner, environment: string | true, signal: AbortSignal): Promise<Network[]> {
  const filters = labelFilter(owner.instance, { [label.environment]: environment })
  const answer = await owner.daemon.json({ method: 'GET', path: '/networks', query: { filters }, signal })
  if (!Array.isArray(answer)) throw new EngineError('unreachable', 'Docker returned an invalid list of networks')
  return answer
}

/** Reconnects a container to its environment's network after somebody disconnected it. */
export async function joinNetwork(
  daemon: DockerDaemon,
  network: string,
  { container, aliases }: { readonly container: string; readonly aliases: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const body = { Container: container, EndpointConfig: { Aliases: aliases } }
  try {
    await daemon.send({ method: 'POST', path: `/networks/${network}/connect`, body, signal, timeoutMs: 60_000 })
  } catch (error) {
    // Another process was first.
    if (!(isRefusal(error, 403, 500) && /already exists/i.test(error.message))) throw error
  }
}

/** Creates the network. Undefined if another process has created it or is creating it. */
async function createNetwork(owner: Owner, environment: string, signal: AbortSignal): Promise<string | undefined> {
  // undefined: Docker chooses the subnet. Its default pools hold about thirty networks.
  for (const subnet of [undefined, ...spareSubnets(environment)]) {
    try {
      const body = networkSpec(owner.instance, environment, subnet)
      const call = { method: 'POST', path: '/networks/create', body, signal, timeoutMs: 60_000 } as const
      const made = await owner.daemon.json(call)
      if ('Id' in made && typeof made.Id === 'string') return made.Id
      throw new EngineError('unreachable', 'Docker returned an invalid response to the creation of a network')
    } catch (error) {
      if (isRefusal(error, 403, 409, 500) && /already exists|same bridge name/i.test(error.message)) return undefined
      if (!(isRefusal(error, 400, 403, 404, 500) && /overlap/i.test(error.message))) throw error
    }
  }
  throw new EngineError(
    'refused',
    'no free subnet is left for the network of this environment; delete unused environments',
  )
}

/**
 * Docker may create two networks of one name at the same time, but never two on one bridge. The
 * bridge's name therefore makes the network unique. All bridges share a prefix, so that one
 * firewall rule can match them.
 */
export const networkSpec = (instance: string, environment: string, subnet: string | undefined): object => ({
  Name: networkName(environment),
  CheckDuplicate: true,
  Driver: 'bridge',
  EnableIPv6: false,
  Options: { 'com.docker.network.bridge.name': bridgeName(environment) },
  Labels: { [label.instance]: instance, [label.environment]: environment },
  ...(subnet && { IPAM: { Driver: 'default', Config: [{ Subnet: subnet }] } }),
})

/** Names the bridge. The kernel allows at most fifteen characters. */
export const bridgeName = (environment: string): string =>
  `qs-${createHash('sha256').update(environment).digest('hex').slice(0, 12)}`

/**
 * Lists small subnets to try when Docker's own pools are used up. The first one differs by
 * environment.
 */
export function spareSubnets(environment: string): string[] {
  const start = createHash('sha256').update(environment).digest().readUInt16BE(0)
  return Array.from({ length: 64 }, (_, n) => {
    const place = (start + n * 257) % 65_536
    // 10.128.0.0/10 in blocks of 64 addresses.
    const bits = (10 * 2 ** 24 + 128 * 2 ** 16 + place * 64) >>> 0
    return `${bits >>> 24}.${(bits >>> 16) & 255}.${(bits >>> 8) & 255}.${bits & 255}/26`
  })
}

async function removeNetwork(daemon: DockerDaemon, id: string, signal: AbortSignal): Promise<void> {
  try {
    await absent(daemon.send({ method: 'DELETE', path: `/networks/${id}`, signal, timeoutMs: 60_000 }))
  } catch (error) {
    // A container was attached meanwhile and needs the network.
    if (isRefusal(error, 403)) return
    throw error
  }
}
