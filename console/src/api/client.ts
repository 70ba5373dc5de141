import endpoints from 'quayside:endpoints'
import { ApiError, type Client, createClientBy } from '@quayside/client/client-of.ts'
import type { Contract } from '@quayside/contract'
import { QueryClient } from '@tanstack/react-query'
import { reach } from './reach.ts'
import { accessToken, dropToken } from './session.ts'

/** The pieces of work that run with a `fetch` of their own. */
let othersRunning = 0

/** Asks again once with a new token if the server refuses the token. */
async function fetchSigned(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const isChange = init?.method !== undefined && init.method !== 'GET'
  if (isChange && othersRunning > 0) throw new Error('A request is being shown. Close it, and try again.')
  const answer = await reach(input, init)
  if (answer.status !== 401) return answer
  dropToken()
  const headers = new Headers(init?.headers)
  headers.set('authorization', `Bearer ${await accessToken()}`)
  return reach(input, { ...init, headers })
}

const real: Client = createClientBy<Contract>(endpoints, { baseUrl: '', token: accessToken, fetch: fetchSigned })
let current = real

/** The API of the platform, with the rights of the person who is signed in. */
export const api: Client = new Proxy(real, { get: (_, name) => Reflect.get(current, name) })

/**
 * Lets the work begin with a `fetch` of its own. Until it ends, the real one sends no change: a
 * part of the work that begins later would be meant for the other one, too.
 */
export async function withFetch<T>(other: typeof fetch, work: () => Promise<T>): Promise<T> {
  othersRunning++
  current = createClientBy<Contract>(endpoints, { baseUrl: location.origin, token: 'none', fetch: other })
  try {
    const running = work()
    current = real
    return await running
  } finally {
    current = real
    othersRunning--
  }
}

/** A refusal stays a refusal. Only failures of the way to the server are worth another try. */
const isPassing = (error: Error): boolean => !(error instanceof ApiError) || error.status >= 500 || error.status === 429

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) => count < 3 && isPassing(error),
      // The stream of the organization says what has changed.
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
    },
  },
})

/** Whether the API has no such object, or none that the person may read. */
export const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 404

/** Returns the sentence for people. The API's own message is the best that there is. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
