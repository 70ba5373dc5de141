import { createHash } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { EngineError } from '../engine.ts'
import { absent, listContainers } from './containers.ts'
import { type DockerDaemon, isRefusal } from './daemon.ts'
import { label, labelFilter, networkName } from './labels.ts'

interface Owner {
  readonly daemon: DockerDaemon
  readonly clock: Clock
  readonly instance: string
  /** Networks that this process is making, by environment. */
  readonly networksToCome: Map<string, Promise<string>>
}

/**
 * Sees to it that the environment has its own bridge, and one only, however many ask at once. Gives
 * its id.
 */
export async function ensureNetwork(owner: Owner, environment: string, signal: AbortSignal): Promise<string> {
  const toCome = owner.networksToCome.get(environment)
  // A failure is told to whoever makes it: who waited tries by himself then.
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
    // Somebody else was first, and Docker shows a network only once it is complete.
    await owner.clock.sleep(50, signal)
  }
  throw new EngineError(
    'unreachable',
    `network ${networkName(environment)} is being made by somebody else and does not appear`,
  )
}

/**
 * Removes the environment's network unless a container of ours, running or not, still belongs to
 * it.
 */
export async function eraseNetwork(owner: Owner, environment: string, signal: AbortSignal): Promise<void> {
  const filter = { instance: owner.instance, labels: { [label.environment]: environment } }
  if ((await listContainers(owner.daemon, filter, signal)).length > 0) return
  for (const network of await networksOf(owner, environment, signal))
    await removeNetwork(owner.daemon, network.Id, signal)
}

async function networksOf(owner: Owner, environment: string, signal: AbortSignal): Promise<{ Id: string }[]> {
  const filters = labelFilter(owner.instance, { [label.environment]: environment })
  const answer = await owner.daemon.json({ method: 'GET', path: '/networks', query: { filters }, signal })
  if (!Array.isArray(answer))
    throw new EngineError('unreachable', 'Docker answered a list of networks with something else')
  return answer
}

/** Puts a container that somebody took out of it back into the network of its environment. */
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
    // Somebody else was first.
    if (!(isRefusal(error, 403, 500) && /already exists/i.test(error.message))) throw error
  }
}

/** Undefined: somebody else has made it, or is just making it. */
async function createNetwork(owner: Owner, environment: string, signal: AbortSignal): Promise<string | undefined> {
  // undefined: a subnet of Docker's choice. Its default pools end after some thirty networks.
  for (const subnet of [undefined, ...spareSubnets(environment)]) {
    try {
      const body = networkSpec(owner.instance, environment, subnet)
      const call = { method: 'POST', path: '/networks/create', body, signal, timeoutMs: 60_000 } as const
      const made = await owner.daemon.json(call)
      if ('Id' in made && typeof made.Id === 'string') return made.Id
      throw new EngineError('unreachable', 'Docker answered the making of a network with something else')
    } catch (error) {
      if (isRefusal(error, 403, 409, 500) && /already exists|same bridge name/i.test(error.message)) return undefined
      if (!(isRefusal(error, 400, 403, 404, 500) && /overlap/i.test(error.message))) throw error
    }
  }
  throw new EngineError(
    'refused',
    'no free subnet is left for the network of this environment; delete environments that are not used',
  )
}

/**
 * Docker accepts two networks of one name when they are asked for at the same time, but never two
 * on one bridge: the name of the bridge is what makes the network one. All begin alike, so that a
 * firewall can name them all.
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

/** The kernel takes fifteen characters at most. */
export const bridgeName = (environment: string): string =>
  `qs-${createHash('sha256').update(environment).digest('hex').slice(0, 12)}`

/**
 * Small subnets to try once Docker's own pools are used up; where to begin differs by environment.
 */
export function spareSubnets(environment: string): string[] {
  const start = createHash('sha256').update(environment).digest().readUInt16BE(0)
  return Array.from({ length: 64 }, (_, n) => {
    const place = (start + n * 257) % 65_536
    // 10.128.0.0/10 in pieces of 64 addresses.
    const bits = (10 * 2 ** 24 + 128 * 2 ** 16 + place * 64) >>> 0
    return `${bits >>> 24}.${(bits >>> 16) & 255}.${(bits >>> 8) & 255}.${bits & 255}/26`
  })
}

async function removeNetwork(daemon: DockerDaemon, id: string, signal: AbortSignal): Promise<void> {
  try {
    await absent(daemon.send({ method: 'DELETE', path: `/networks/${id}`, signal, timeoutMs: 60_000 }))
  } catch (error) {
    // Something is attached after all: whoever attached it needs it.
    if (isRefusal(error, 403)) return
    throw error
  }
}
