import type Docker from 'dockerode'
import { dial } from './dial.ts'

/**
 * Removes what a build that found the disk full has left in the engine's cache: it would fill the disk for all that come after. What was
 * there before `began` stays, for it may belong to others.
 */
export async function dropLeftovers(docker: Docker, began: Date, signal: AbortSignal): Promise<void> {
  // The shape is that of Docker's published API.
  const { BuildCache } = (await docker.df()) as {
    readonly BuildCache?: readonly { readonly ID: string; readonly CreatedAt: string }[] | null
  }
  const left = (BuildCache ?? []).filter(({ CreatedAt }) => Date.parse(CreatedAt) >= began.getTime())
  for (const { ID } of left) {
    // What is in use stays.
    const filters = JSON.stringify({ id: [ID] })
    const answer = await dial(docker, {
      method: 'POST',
      path: '/build/prune?',
      options: { all: true, filters },
      isStream: true,
      statusCodes: { 200: true, 500: 'server error' },
      abortSignal: signal,
    })
    answer.destroy()
  }
}
