import { type AccessLine, accessReplica } from '@quayside/contract/access-line.ts'
import { reconcilerName } from '../engines/index.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { type LineStore, serviceStream } from '../logs/index.ts'
import type { Router } from '../routers/index.ts'

export interface AccessLinesOptions {
  readonly router: Pick<Router, 'takeLines'>
  /** The name of the router's first engine. */
  readonly name: string
  readonly lines: Pick<LineStore, 'append'>
}

/** Stores the lines of requests beside the output of the services. */
export const createAccessLines = ({ router, name, lines }: AccessLinesOptions): Reconciler => ({
  name: reconcilerName('access lines', name),
  everyMs: 1_000,
  reconcile: async (signal) => {
    const taken = Map.groupBy(await router.takeLines(signal), ({ service }) => service)
    for (const [service, own] of taken) await lines.append(serviceStream(service), own.map(storedLine))
  },
})

/** `origin` tells them from lines of the engine, which are read again after a break. */
const storedLine = ({ at, text }: AccessLine) => ({
  at,
  text,
  origin: 'router',
  replica: accessReplica,
  container: 'access',
  release: '',
  stream: 'stdout',
})
