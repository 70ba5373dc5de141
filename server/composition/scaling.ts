import { availableParallelism, totalmem } from 'node:os'
import { systemClock as clock } from '../lib/clock.ts'
import { serviceStream } from '../logs/index.ts'
import type { Observer } from '../observations/index.ts'
import { createScaler, createSleeper, createWaker } from '../scaling/index.ts'
import type { Reconciler } from '../workflows/index.ts'

import type { Foundation } from './foundation.ts'

const mebibyte = 1024 * 1024

/** More replicas under load, none while nobody asks, and one again when somebody does. */
export function createScaling(
  { database, engines, routers, log, lines }: Foundation,
  observer: Pick<Observer, 'look'>,
  nudgeRoutes: () => void,
  stopping: AbortSignal,
): Reconciler[] {
  const machine = { cpuMilli: availableParallelism() * 1000, memoryMiB: Math.floor(totalmem() / mebibyte) }
  /** The observer carries out what was written down; what it misses now it sees a second later. */
  const changed = (serviceId: string, sentence: string): void => {
    void lines.append(serviceStream(serviceId), [{ text: sentence, stream: 'stdout', replica: '', release: '' }])
    observer.look(serviceId, stopping).catch((error: unknown) => {
      if (!stopping.aborted) log.debug({ err: error, serviceId }, 'a service is looked at later')
    })
  }
  const given = { database, clock, log, changed }
  return [
    ...engines.all.map((named) => createScaler({ ...given, ...named, machine })),
    ...routers.all.flatMap((scoped) => [
      createSleeper({ ...given, ...scoped }),
      createWaker({ ...given, ...scoped, refreshRoutes: nudgeRoutes }),
    ]),
  ]
}
