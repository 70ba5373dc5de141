import { RegistryProblem } from '../registry-problem.ts'

const gibibytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(2)} GiB`

/** Returns the problem of an image that exceeds the limit. */
export const tooLarge = (bytes: number, most: number): RegistryProblem =>
  new RegistryProblem(
    'size',
    `its size is ${gibibytes(bytes)}, and the limit is ${gibibytes(most)} (QUAYSIDE_IMAGE_SIZE)`,
  )
