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

const refusal = (address: string): string =>
  `-A ${own} -d ${address}/32 -p tcp -m tcp ! --dport 53 -j REJECT --reject-with tcp-reset`

/**
 * Pure: what `iptables` is to be called with, where this is what its `-S` prints. What is there stays: another installation may have put it
 * there. Throws an Error where Docker does not make rules for its networks: then somebody else looks after them.
 */
export function guardCommands(rules: readonly string[], defaultBridge: string, wanted: CloudMetadata): string[][] {
  const isThere = new Set(rules)
  const ways = [defaultBridge, bridgesOfEnvironments].map((bridge) => `${users} -i ${bridge} -j ${own}`)
  // One may be there twice, where two installations made it at the same moment.
  const led = rules.filter((rule) => ways.some((way) => rule === `-A ${way}`))
  if (wanted === 'open') return led.map((rule) => rule.replace('-A', '-D').split(' '))
  const isDockers = rules.some((rule) => rule.endsWith(` -o ${defaultBridge} -j DOCKER`))
  if (!isDockers || !isThere.has(`-N ${users}`)) throw new Error('Docker makes no rules of iptables for its networks')
  const commands = [
    ...(isThere.has(`-N ${own}`) ? [] : [`-N ${own}`]),
    ...addresses.map(refusal).filter((rule) => !isThere.has(rule)),
    ...ways.filter((way) => !isThere.has(`-A ${way}`)).map((way) => `-I ${way}`),
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
  const rules = (await iptables(['-S'], signal)).trim().split('\n')
  const commands = guardCommands(rules, bridge, wanted)
  for (const command of commands) await iptables(command, signal)
  return commands.length > 0
}

async function defaultBridge(daemon: DockerDaemon, signal: AbortSignal): Promise<string> {
  // The shape is that of Docker's published API.
  const { Options } = (await daemon.json({ method: 'GET', path: '/networks/bridge', signal })) as {
    Options?: Readonly<Record<string, string>>
  }
  return Options?.['com.docker.network.bridge.name'] ?? 'docker0'
}

/** Gives what it prints. Waits some seconds for others that change rules at the moment, as Docker does. */
async function iptables(args: readonly string[], signal: AbortSignal): Promise<string> {
  const { exitCode, stdout, stderr } = await run('iptables', ['-w', '5', ...args], { signal, timeoutMs: 10_000 })
  if (exitCode !== 0) throw new Error(`iptables ${args.join(' ')}: ${stderr.trim()}`)
  return stdout.toString()
}
