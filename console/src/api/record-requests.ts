import type { RecordedRequest } from './as-curl.ts'
import { withFetch } from './client.ts'

/** A piece of work that sends requests. */
export type Work = () => Promise<unknown>

/** Ends the work of a form at the request that was recorded. */
class Recorded extends Error {}

/**
 * Returns the requests that the work would send first, and sends none of them. A later request may
 * need the answer of an earlier one, so it is not known.
 */
export async function recordRequests(work: Work): Promise<readonly RecordedRequest[]> {
  const found: RecordedRequest[] = []
  const record: typeof fetch = async (url, init) => {
    const headers = new Headers(init?.headers)
    found.push({
      method: init?.method ?? 'GET',
      url: String(url),
      body: typeof init?.body === 'string' ? init.body : undefined,
      contentType: headers.get('content-type') ?? undefined,
    })
    throw new Recorded('recorded')
  }
  await withFetch(record, work).catch((error: unknown) => {
    if (!(error instanceof Recorded)) throw error
  })
  return found
}

/** Returns the requests of pieces of work that do not need each other's answers. */
export async function recordEach(works: readonly Work[]): Promise<readonly RecordedRequest[]> {
  const found: RecordedRequest[] = []
  for (const work of works) found.push(...(await recordRequests(work)))
  return found
}

/** Sends pieces of work one after the other, until one fails. */
export async function sendInOrder(works: readonly Work[]): Promise<void> {
  for (const work of works) await work()
}
