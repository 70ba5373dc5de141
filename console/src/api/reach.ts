/** The server did not answer a request. */
class UnreachableError extends Error {
  constructor(cause: unknown) {
    super('The server cannot be reached. Is it running?', { cause })
  }
}

type Init = { readonly [K in keyof RequestInit]: RequestInit[K] | undefined }

/** As `fetch`. Throws UnreachableError if there is no answer. */
export async function reach(input: Parameters<typeof fetch>[0], init?: Init): Promise<Response> {
  try {
    // For `fetch`, a member that is undefined is missing.
    return await fetch(input, init as RequestInit)
  } catch (error) {
    // Browsers report a missing answer by a TypeError, and nothing else by one.
    throw error instanceof TypeError ? new UnreachableError(error) : error
  }
}
