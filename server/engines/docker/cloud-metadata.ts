import { run } from '../../lib/run.ts'
import type { DockerDaemon } from './daemon.ts'

/**
 * Where clouds tell a machine of its credentials: most of them, tasks of Amazon ECS, Alibaba, and the wire server of Azure. Some answer for
 * names there, too, on port 53: that stays open.
 */
const addresses = ['169.254.169.254', '169.254.170.2', '100.100.100.200', '168.63.129.16']

/** Docker goes through this one first, and leaves what others have put there. */
const users = 'DOCKER-USER'
const own = 'QUAYSIDE-METADATA'
/** All networks of environments begin alike. */
const bridgesOfEnvironments = 'qs-+'

/** Whether containers and steps of builds reach the metadata of a cloud. */
export type CloudMetadata = 'closed' | 'open'

/** Rules as `iptables -S` prints them; undefined: there is no such chain. */
interface Chains {
  readonly users: readonly string[] | undefined
  readonly own: readonly string[] | undefined
}

const refusal = (address: string): string =>
  `-A ${own} -d ${address}/32 -p tcp -m tcp ! --dport 53 -j REJECT --reject-with tcp-reset`
const way = (bridge: string): string => `-i ${bridge} -j ${own}`

/** Pure: what `iptables` is to be called with. What is there stays: another installation may have put it there. */
export function guardCommands(found: Chains, defaultBridge: string, wanted: CloudMetadata): string[][] {
  const ways = [defaultBridge, bridgesOfEnvironments].map((bridge) => way(bridge))
  const isThere = (one: string): boolean => found.users?.includes(`-A ${users} ${one}`) === true
  const commands =
    wanted === 'open'
      ? ways.filter(isThere).map((one) => `-D ${users} ${one}`)
      : [
          ...(found.own ? [] : [`-N ${own}`]),
          ...addresses.map(refusal).filter((rule) => !found.own?.includes(rule)),
          ...ways.filter((one) => !isThere(one)).map((one) => `-I ${users} ${one}`),
        ]
  return commands.map((command) => command.split(' '))
}

/**
 * Closes the metadata of a cloud to all containers of environments and to what runs on the engine's default network, as steps of builds do, or opens it
 * again. True where something was changed. Throws an Error that says why it cannot: not as root, without `iptables`, with a Docker that makes no rules.
 */
export async function guardMetadata(
  daemon: DockerDaemon,
  wanted: CloudMetadata,
  signal: AbortSignal,
): Promise<boolean> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) throw new Error('only root on Linux may set the rules')
  const bridge = await defaultBridge(daemon, signal)
  const found = { users: await chain(users, signal), own: await chain(own, signal) }
  if (!found.users) throw new Error(`there is no chain ${users} of iptables, which Docker makes`)
  const commands = guardCommands(found, bridge, wanted)
  for (const command of commands) {
    const { exitCode, stderr } = await iptables(command, signal)
    if (exitCode !== 0) throw new Error(`iptables ${command.join(' ')}: ${stderr.trim()}`)
  }
  return commands.length > 0
}

async function defaultBridge(daemon: DockerDaemon, signal: AbortSignal): Promise<string> {
  // The shape is that of Docker's published API.
  const { Options } = (await daemon.json({ method: 'GET', path: '/networks/bridge', signal })) as {
    Options?: Readonly<Record<string, string>>
  }
  return Options?.['com.docker.network.bridge.name'] ?? 'docker0'
}

async function chain(name: string, signal: AbortSignal): Promise<string[] | undefined> {
  const { exitCode, stdout, stderr } = await iptables(['-S', name], signal)
  if (exitCode === 0) return stdout.toString().trim().split('\n')
  if (/No chain|does not exist|incompatible/i.test(stderr)) return undefined
  throw new Error(`iptables -S ${name}: ${stderr.trim()}`)
}

/** Waits some seconds for others that change rules at the moment, as Docker does. */
const iptables = (args: readonly string[], signal: AbortSignal) =>
  run('iptables', ['-w', '5', ...args], { signal, timeoutMs: 10_000 })
