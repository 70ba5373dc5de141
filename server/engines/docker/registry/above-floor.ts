import { sizeText, watchFloor } from '../../../lib/disk-floor.ts'
import { RegistryProblem } from '../registry-problem.ts'
import type { Registries } from './registries.ts'

/** Ends the work when a disk that it writes to gets too full for what runs. */
export async function aboveFloor<T>(
  { clock, floorBytes, settings }: Registries,
  directory: string,
  signal: AbortSignal,
  work: (bounded: AbortSignal) => Promise<T>,
): Promise<T> {
  const { dataDirectory } = await settings(signal)
  const [controller, over] = [new AbortController(), new AbortController()]
  const error = (floor: number) =>
    new RegistryProblem('disk-full', `less than ${sizeText(floor)} are free (QUAYSIDE_DISK_FLOOR)`)
  const watching = [directory, dataDirectory].map((place) =>
    watchFloor({ directory: place, floorBytes, clock }, { controller, error }, over.signal),
  )
  try {
    return await work(AbortSignal.any([signal, controller.signal]))
  } catch (thrown) {
    signal.throwIfAborted()
    throw controller.signal.aborted ? controller.signal.reason : thrown
  } finally {
    over.abort()
    await Promise.all(watching)
  }
}
