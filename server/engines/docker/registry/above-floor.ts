import { aboveFloor as keepAbove, sizeText } from '../../../lib/disk-floor.ts'
import { RegistryProblem } from '../registry-problem.ts'
import type { Registries } from './registries.ts'

/**
 * Cancels the work when a disk that it writes to has too little free space left for running
 * services.
 */
export async function aboveFloor<T>(
  { clock, floorBytes, settings }: Registries,
  directory: string,
  signal: AbortSignal,
  work: (bounded: AbortSignal) => Promise<T>,
): Promise<T> {
  const { dataDirectory } = await settings(signal)
  return keepAbove({ directories: [directory, dataDirectory], floorBytes, clock, error: floorError }, signal, work)
}

const floorError = (floor: number): RegistryProblem =>
  new RegistryProblem('disk-full', `less than ${sizeText(floor)} are free (QUAYSIDE_DISK_FLOOR)`)
