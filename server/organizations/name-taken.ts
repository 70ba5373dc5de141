import { isUniqueViolation } from '../database/index.ts'
import { AppError } from '../lib/error.ts'

/** Turns a unique violation into a 409 with the name. Rethrows other errors unchanged. */
export const nameTaken =
  (noun: string, name: string | undefined) =>
  (error: unknown): never => {
    if (isUniqueViolation(error)) {
      throw new AppError('conflict', `${noun} with the name "${name}" already exists.`, { cause: error })
    }
    throw error
  }
