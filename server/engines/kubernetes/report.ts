import { startDeadline } from '../../lib/deadline.ts'
import { AppError, messageOf } from '../../lib/error.ts'
import { EngineError, type EngineReport } from '../engine.ts'
import { machineOf } from './capacity.ts'
import { mayI } from './check.ts'
import type { Node } from './client/index.ts'
import { toEngineError } from './engine-errors.ts'
import type { KubeHost } from './host.ts'
import { rights } from './rights.ts'

/** A cluster that has not answered in this time counts as unreachable. */
const patienceMs = 15_000

/**
 * Returns what a cluster says of itself: its version and its nodes, or why it cannot be used. One
 * verb of each right is asked for; a check asks for all of them.
 */
export async function reportOf(
  { kube }: Pick<KubeHost, 'kube'>,
  nodes: (signal: AbortSignal) => Promise<readonly Node[]>,
  signal: AbortSignal,
): Promise<EngineReport> {
  const deadline = startDeadline(patienceMs, signal)
  try {
    const version = await kube.version(deadline.signal)
    const asked = rights
      .filter(({ isOptional }) => isOptional === undefined)
      .map((right) => ({ right, verb: right.verbs.includes('patch') ? 'patch' : (right.verbs[0] ?? 'get') }))
    const answers = await Promise.all(asked.map((one) => mayI(kube, one, deadline.signal)))
    const lost = asked.find((_, index) => !answers[index])
    if (lost) {
      const { resource, group } = lost.right
      const what = `may not ${lost.verb} ${group === '' ? resource : `${resource}.${group}`}`
      return refused(`The user of the cluster ${what}. Deploy the cluster to get the command that allows it.`)
    }
    const machines = (await nodes(deadline.signal)).map(machineOf)
    const sum = (of: (one: ReturnType<typeof machineOf>) => number): number =>
      machines.reduce((total, one) => total + of(one), 0)
    return {
      state: 'REACHABLE',
      version: version.text,
      nodes: machines.map(({ name }) => name).toSorted(),
      cpuMilli: sum(({ cpuMilli }) => cpuMilli),
      memoryMiB: sum(({ memoryMiB }) => memoryMiB),
    }
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.isOver) return unreachable(`The cluster did not answer within ${patienceMs / 1000} s.`)
    const reason = sentence(messageOf(toEngineError(error)))
    const known = toEngineError(error)
    if (known instanceof EngineError && known.reason === 'unreachable') return unreachable(reason)
    // The master key is missing, which says nothing of the cluster.
    if (known instanceof AppError && known.code === 'sealed') throw known
    return refused(reason)
  }
}

const refused = (reason: string): EngineReport => ({ state: 'REFUSED', reason })
const unreachable = (reason: string): EngineReport => ({ state: 'UNREACHABLE', reason })

function sentence(text: string): string {
  const whole = `${text.charAt(0).toUpperCase()}${text.slice(1, 1000)}`
  return whole.endsWith('.') ? whole : `${whole}.`
}
