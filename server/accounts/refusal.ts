import { AppError, errorCodes } from '../lib/error.ts'

/** Why a page of an account refuses something, for that page. */
export interface Refusal {
  readonly status: number
  readonly problem: string
  /** After how many seconds the person may try again. */
  readonly retryAfterSeconds?: number
}

/** Returns an expected error as a page shows it. */
export const refusalOf = ({ code, message, retryAfterSeconds }: AppError): Refusal => ({
  status: errorCodes[code].status,
  problem: message,
  ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
})

/** The error for a page. The HTTP layer answers other errors. */
export async function failureOf(work: () => Promise<void>): Promise<Refusal | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return refusalOf(error)
  }
}
