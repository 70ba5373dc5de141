import endpoints from 'quayside:endpoints'
import { ApiError, type Client, createClientBy } from '@quayside/client/client-of.ts'
import type { Contract } from '@quayside/contract'
import { QueryClient } from '@tanstack/react-query'
import { accessToken, dropToken } from './session.ts'

/** Asks again once with a new token if the server refuses the token. */
async function fetchSigned(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const answer = await fetch(input, init)
  if (answer.status !== 401) return answer
  dropToken()
  const headers = new Headers(init?.headers)
  headers.set('authorization', `Bearer ${await accessToken()}`)
  return fetch(input, { ...init, headers })
}

/** The API of the platform, with the rights of the person who is signed in. */
export const api: Client = createClientBy<Contract>(endpoints, {
  baseUrl: '',
  token: accessToken,
  fetch: fetchSigned,
})

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
  if (error instanceof ApiError) return error.message
  if (error instanceof TypeError) return 'The server cannot be reached. Is it running?'
  return error instanceof Error ? error.message : String(error)
}
