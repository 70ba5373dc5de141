import { engineOrNone } from '../engines/index.ts'
import { AppError } from '../lib/error.ts'
import { type StreamCall, serviceOf, textOf } from './stream-call.ts'
import type { Feed, StreamsOptions } from './streams.ts'

/**
 * Runs a command in a replica of the service, with a terminal if it has a size. Command and
 * connection end together.
 */
export function shell({ engineOf }: Pick<StreamsOptions, 'engineOf'>): Feed {
  return async (call, outlet, signal) => {
    const { id, cluster_engine } = serviceOf(call)
    const replica = replicaOf(call)
    const [columns, rows] = [Number(call.query['tty_width']), Number(call.query['tty_height'])]
    if ((columns === 0) !== (rows === 0)) {
      throw new AppError('invalid', 'tty_width and tty_height must both be 0, for no terminal, or both be at least 1.')
    }
    const terminal = await engineOrNone(engineOf, { engine: cluster_engine }).shell(
      id,
      {
        ...(replica === undefined ? {} : { replica }),
        command: call.command.length > 0 ? call.command : ['sh'],
        columns,
        rows,
      },
      signal,
    )
    await outlet.carry(terminal.stream)
    const exitCode = signal.aborted ? undefined : await terminal.exitCode()
    return exitCode === undefined ? undefined : `The command ended with exit code ${exitCode}.`
  }
}

/** Carries the bytes of one TCP port of a replica. */
export function forwardPort({ engineOf }: Pick<StreamsOptions, 'engineOf'>): Feed {
  return async (call, outlet, signal) => {
    const replica = replicaOf(call)
    const { id, cluster_engine } = serviceOf(call)
    const engine = engineOrNone(engineOf, { engine: cluster_engine })
    await outlet.carry(await engine.connect(id, Number(call.query['port']), replica, signal))
  }
}

/**
 * A replica has one container with the same name. The engine reports whether the replica exists.
 */
function replicaOf(call: StreamCall): string | undefined {
  const [pod, container] = [textOf(call, 'pod_name'), textOf(call, 'container_name')]
  if (container === undefined || container === pod || container === serviceOf(call).name) return pod
  if (pod === undefined) return container
  throw new AppError('notFound', `container_name: the replica ${pod} has no container of that name.`)
}
