import { isChartKind } from '@quayside/contract/services/kinds.ts'
import { engineOrNone } from '../engines/index.ts'
import { AppError } from '../lib/error.ts'
import { type StreamCall, serviceOf, textOf } from './stream-call.ts'
import type { Feed, StreamsOptions } from './streams.ts'
import { sizesOf } from './terminal-size.ts'

/**
 * Runs a command in a replica of the service, with a terminal if it has a size. Command and
 * connection end together.
 */
export function shell({ engineOf }: Pick<StreamsOptions, 'engineOf'>): Feed {
  return async (call, outlet, signal) => {
    const { id, cluster_engine } = serviceOf(call)
    const place = containerOf(call)
    const [columns, rows] = [Number(call.query['tty_width']), Number(call.query['tty_height'])]
    if ((columns === 0) !== (rows === 0)) {
      throw new AppError('invalid', 'tty_width and tty_height must both be 0, for no terminal, or both be at least 1.')
    }
    const terminal = await engineOrNone(engineOf, { engine: cluster_engine }).shell(
      id,
      {
        ...place,
        command: call.command.length > 0 ? call.command : ['sh'],
        columns,
        rows,
      },
      signal,
    )
    await outlet.carry(terminal.stream, call.query['resize'] === 'text' ? sizesOf(terminal) : undefined)
    const exitCode = signal.aborted ? undefined : await terminal.exitCode()
    return exitCode === undefined ? undefined : `The command ended with exit code ${exitCode}.`
  }
}

/** Carries the bytes of one TCP port of a replica. */
export function forwardPort({ engineOf }: Pick<StreamsOptions, 'engineOf'>): Feed {
  return async (call, outlet, signal) => {
    const { replica } = containerOf(call)
    const { id, cluster_engine } = serviceOf(call)
    const engine = engineOrNone(engineOf, { engine: cluster_engine })
    await outlet.carry(await engine.connect(id, Number(call.query['port']), replica, signal))
  }
}

/**
 * Returns the replica and the container of a call. A replica has one container with the same name,
 * except pods of charts. The engine reports whether they exist.
 */
function containerOf(call: StreamCall): { readonly replica?: string; readonly container?: string } {
  const [pod, container] = [textOf(call, 'pod_name'), textOf(call, 'container_name')]
  const service = serviceOf(call)
  const replica = pod === undefined ? {} : { replica: pod }
  if (container === undefined || container === pod || container === service.name) return replica
  if (isChartKind(service.kind)) return { ...replica, container }
  if (pod === undefined) return { replica: container }
  throw new AppError('notFound', `container_name: the replica ${pod} has no container of that name.`)
}
