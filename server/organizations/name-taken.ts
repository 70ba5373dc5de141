import { isUniqueViolation } from '../database/index.ts'
import { AppError } from '../lib/error.ts'

/** Turns a unique violation into the 409 that names the name; anything else goes on as it is. */
export const nameTaken =
  (noun: string, name: string | undefined) =>
  (error: unknown): never => {
    if (isUniqueViolation(error)) {
      throw new AppError('conflict', `${noun} with the name "${name}" exists already.`, { cause: error })
    }
    throw error
  }
