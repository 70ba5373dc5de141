import { access, readFile } from 'node:fs/promises'
import type { NetworkGuards } from '../network-guards.ts'
import { buildGuard } from './build-bridge.ts'
import { metadataGuard } from './cloud-metadata.ts'
import type { DockerDaemon } from './daemon.ts'
import { hostGuard } from './host-access.ts'
import {
  checkDockersRules,
  closingCommands,
  type Guard,
  openingCommands,
  packetFilter,
  removalCommands,
} from './packet-filter.ts'

/** The prefix of the bridges of all environments. */
const bridgesOfEnvironments = 'qs-+'

interface Machine {
  readonly bridge: string
  readonly instance: string
  /** Whether the packet filter sees traffic between two ports of the same bridge. */
  readonly seesBridged: boolean
  readonly hasIpv6: boolean
}

/** Pure: lists all of Quayside's chains, each with whether it is needed. */
export function planGuards(
  wanted: NetworkGuards,
  machine: Machine,
): { readonly guard: Guard; readonly isWanted: boolean }[] {
  const { bridge, instance, seesBridged, hasIpv6 } = machine
  const bridges = [bridge, bridgesOfEnvironments]
  const { metadata, host } = wanted
  const ports = host === undefined || host === 'open' ? [] : host
  const programs = ['iptables', ...(hasIpv6 ? ['ip6tables' as const] : [])] as const
  const hostGuards = programs.map((program) => hostGuard(program, bridges, instance, ports))
  return [
    ...(metadata === undefined ? [] : [{ guard: metadataGuard(bridges), isWanted: metadata === 'closed' }]),
    { guard: buildGuard(bridge, seesBridged), isWanted: true },
    ...(host === undefined ? [] : hostGuards.map((guard) => ({ guard, isWanted: host !== 'open' }))),
  ]
}

interface Owner {
  readonly daemon: DockerDaemon
  readonly instance: string
}

/**
 * Sets the packet filter rules for the containers of environments and for the engine's default
 * network, which build steps use. Returns whether anything changed. Throws an Error with the
 * reason if it cannot: not root, no `iptables`, or a Docker that makes no rules.
 */
export async function guardNetworks(owner: Owner, wanted: NetworkGuards, signal: AbortSignal): Promise<boolean> {
  const machine = await lookAround(owner, signal)
  checkDockersRules(await rulesOf('iptables', signal), machine.bridge)
  let isChanged = false
  for (const { guard, isWanted } of planGuards(wanted, machine)) {
    const commands = (isWanted ? closingCommands : openingCommands)(await rulesOf(guard.program, signal), guard)
    for (const command of commands) await packetFilter(guard.program, command, signal)
    isChanged ||= commands.length > 0
  }
  return isChanged
}

/**
 * Removes the rules of this installation, or all of Quayside's rules if no other installation uses
 * the engine. Returns the calls that it made. With `dryRun`, returns the calls that it would make.
 * Throws as `guardNetworks` does.
 */
export async function removeGuards(
  owner: Owner,
  { isShared, dryRun = false }: { readonly isShared: boolean; readonly dryRun?: boolean },
  signal: AbortSignal,
): Promise<string[]> {
  const made: string[] = []
  for (const { guard } of planGuards({ metadata: 'closed', host: [] }, await lookAround(owner, signal))) {
    for (const command of removalCommands(await rulesOf(guard.program, signal), guard, isShared)) {
      made.push([guard.program, ...command].join(' '))
      if (!dryRun) await packetFilter(guard.program, command, signal)
    }
  }
  return made
}

async function rulesOf(program: Guard['program'], signal: AbortSignal): Promise<string[]> {
  return (await packetFilter(program, ['-S'], signal)).trim().split('\n')
}

async function lookAround({ daemon, instance }: Owner, signal: AbortSignal): Promise<Machine> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) throw new Error('only root on Linux may set the rules')
  const seen = await readFile('/proc/sys/net/bridge/bridge-nf-call-iptables', 'utf8').catch(() => '0')
  const hasIpv6 = await access('/proc/net/if_inet6').then(
    () => true,
    () => false,
  )
  return { bridge: await defaultBridge(daemon, signal), instance, seesBridged: seen.trim() === '1', hasIpv6 }
}

async function defaultBridge(daemon: DockerDaemon, signal: AbortSignal): Promise<string> {
  // Docker's published API guarantees this shape.
  const { Options } = (await daemon.json({ method: 'GET', path: '/networks/bridge', signal })) as {
    Options?: Readonly<Record<string, string>>
  }
  return Options?.['com.docker.network.bridge.name'] ?? 'docker0'
}
