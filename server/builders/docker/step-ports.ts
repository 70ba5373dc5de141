import { readdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { run } from '../../lib/run.ts'
import { createSlots } from '../../lib/slots.ts'
import { bindingRules, parseAddress, parseDeviceIndex, removalCommands } from './port-rules.ts'

/**
 * Isolates build steps from each other. BuildKit inside Docker gives every step a port of the
 * engine's default bridge and raw sockets, and accepts no other network. So each port is set up
 * when its step appears (ADR 0042):
 * - It is isolated: the bridge passes nothing between two isolated ports.
 * - It gets no frames for unknown addresses, which the bridge sends to every port.
 * - It sends only from its own MAC and IP address, so it cannot impersonate another step on the
 *   bridge or the host.
 *
 * Needs root on the engine's machine, and the program `ebtables` (part of Debian's package
 * iptables).
 */
export interface StepPorts {
  /** Sets up the port of one step while the step is paused. Rejects with an Error on failure. */
  keepApart(step: StepGroup): Promise<void>
}

/** The control group of a step. */
export interface StepGroup {
  /** Undefined once the step has ended. */
  processes(): Promise<readonly number[] | undefined>
  setFrozen(isFrozen: boolean): Promise<void>
}

export interface StepPortsOptions {
  readonly clock: Clock
  /** Name of the default bridge, and the MAC of each IPv4 address on it, from the engine. */
  readonly bridge: () => Promise<{ readonly name: string; readonly macs: ReadonlyMap<string, string> }>
  /** The kernel's directories of devices and processes; other places are for tests. */
  readonly sys?: string
  readonly proc?: string
  /** Runs `ebtables` or `ebtables-restore`. Returns its output. */
  readonly filter?: (program: string, args: readonly string[], stdin?: string) => Promise<string>
}

/** A step gets its network a moment after its control group. */
const setUpMs = 5_000

export function createStepPorts(options: StepPortsOptions): StepPorts {
  const { clock, bridge, sys = '/sys/class/net', proc = '/proc', filter = runFilter } = options
  // Two at the same time would remove the same chains.
  const cleaning = createSlots(1)

  const findStep = async (group: StepGroup): Promise<Step | undefined> => {
    const own = await readlink(join(proc, 'self', 'ns', 'net'))
    for (const end = clock.monotonic() + setUpMs; clock.monotonic() < end; await clock.sleep(1)) {
      const pids = await group.processes()
      if (!pids) return undefined
      for (const pid of pids) {
        const found = await lookInto(join(proc, String(pid)), own)
        if (found) return found
      }
    }
    throw new Error(`the step had no network device after ${setUpMs / 1000} s`)
  }

  const findPort = async (name: string, index: number): Promise<string | undefined> => {
    for (const port of await readdir(join(sys, name, 'brif'))) {
      const peer = await readFile(join(sys, port, 'iflink'), 'utf8').catch(ifGone)
      if (Number(peer) === index) return port
    }
    return undefined
  }

  const removeGone = async (name: string): Promise<void> => {
    const ports = new Set(await readdir(join(sys, name, 'brif')))
    const listed = await filter('ebtables', ['-t', 'nat', '-L'])
    for (const args of removalCommands(listed, ports)) await filter('ebtables', args)
  }

  const setUp = async (group: StepGroup, { index, address }: Step): Promise<void> => {
    const { name, macs } = await bridge()
    const port = await findPort(name, index)
    if (!port) {
      // A quick step may end during the search.
      if (!(await group.processes())?.length) return
      throw new Error(`${name} has no port for the step`)
    }
    for (const [flag, value] of Object.entries({ isolated: '1', unicast_flood: '0' }))
      await writeFile(join(sys, port, 'brport', flag), value).catch(ifGone)
    const mac = macs.get(address)
    if (!mac) throw new Error(`the engine reports no MAC address for ${address}`)
    await filter('ebtables-restore', ['--noflush'], bindingRules({ port, mac, address }))
  }

  return {
    async keepApart(group) {
      const step = await findStep(group)
      if (!step) return
      // Its program has not started yet: the network exists before the file system.
      await group.setFrozen(true)
      try {
        await setUp(group, step)
      } finally {
        await group.setFrozen(false)
      }
      const { name } = await bridge()
      // Another installation may remove the same rules. Leftovers are removed after the next step.
      await cleaning.run(new AbortController().signal, () => removeGone(name)).catch(() => {})
    },
  }
}

/** Removes the rules of ports that no longer exist. Throws if `ebtables` is missing or fails. */
export async function removePortRules(sys = '/sys/class/net'): Promise<void> {
  const listed = await runFilter('ebtables', ['-t', 'nat', '-L'])
  for (const args of removalCommands(listed, new Set(await readdir(sys)))) await runFilter('ebtables', args)
}

interface Step {
  /** The index of the step's device, as its port on the bridge shows it. */
  readonly index: number
  readonly address: string
}

/** Returns undefined until the process is in its own network with a device and an address. */
async function lookInto(process: string, ownNetwork: string): Promise<Step | undefined> {
  const network = await readlink(join(process, 'ns', 'net')).catch(ifGone)
  if (!network || network === ownNetwork) return undefined
  const index = parseDeviceIndex((await readFile(join(process, 'net', 'dev_mcast'), 'utf8').catch(ifGone)) ?? '')
  const address = parseAddress((await readFile(join(process, 'net', 'fib_trie'), 'utf8').catch(ifGone)) ?? '')
  return index && address ? { index, address } : undefined
}

/** Returns undefined for anything gone: processes, ports and devices may vanish at any moment. */
function ifGone(error: NodeJS.ErrnoException): undefined {
  if (['ENOENT', 'ESRCH', 'EINVAL', 'ENODEV'].includes(error.code ?? '')) return undefined
  throw error
}

async function runFilter(program: string, args: readonly string[], stdin?: string): Promise<string> {
  const input = stdin === undefined ? {} : { stdin }
  const { exitCode, stdout, stderr } = await run(program, args, { timeoutMs: 10_000, ...input })
  if (exitCode !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr.trim()}`)
  return stdout.toString()
}
