import { aboveFloor as keepAbove, sizeText } from '../../../lib/disk-floor.ts'
import { RegistryProblem } from '../registry-problem.ts'
import type { RegistryTools } from './registries.ts'

/**
 * Cancels the work when a disk that it writes to has too little free space left for running
 * services.
 */
export async function aboveFloor<T>(
  { clock, floorBytes, settings }: Pick<RegistryTools, 'clock' | 'floorBytes' | 'settings'>,
  directory: string,
  signal: AbortSignal,
  work: (bounded: AbortSignal) => Promise<T>,
): Promise<T> {
  const { dataDirectory } = await settings(signal)
  const directories = [directory, ...(dataDirectory === '' ? [] : [dataDirectory])]
  return keepAbove({ directories, floorBytes, clock, error: floorError }, signal, work)
}

const floorError = (floor: number): RegistryProblem =>
  new RegistryProblem('disk-full', `less than ${sizeText(floor)} are free (QUAYSIDE_DISK_FLOOR)`)
