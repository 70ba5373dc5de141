import type { SocketHttp } from '../../lib/socket-http.ts'

/**
 * Removes what a build that found the disk full has left in the engine's cache: it would fill the
 * disk for all that come after. What was there before `began` stays, for it may belong to others.
 */
export async function dropLeftovers(docker: SocketHttp, began: Date, signal: AbortSignal): Promise<void> {
  // The shape is that of Docker's published API.
  const { BuildCache } = (await docker.json({ method: 'GET', path: '/system/df', signal })) as {
    readonly BuildCache?: readonly { readonly ID: string; readonly CreatedAt: string }[] | null
  }
  const left = (BuildCache ?? []).filter(({ CreatedAt }) => Date.parse(CreatedAt) >= began.getTime())
  for (const { ID } of left) {
    // What is in use stays.
    await docker.json({ method: 'POST', path: '/build/prune', query: { all: true, filters: { id: [ID] } }, signal })
  }
}
