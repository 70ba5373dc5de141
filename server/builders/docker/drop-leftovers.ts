import type { SocketHttp } from '../../lib/socket-http.ts'

/**
 * Removes from the engine's cache what a build left after it filled the disk, so that the next
 * builds have room. Keeps everything older than `began`, which may belong to other builds.
 */
export async function dropLeftovers(docker: SocketHttp, began: Date, signal: AbortSignal): Promise<void> {
  // The shape is that of Docker's published API.
  const { BuildCache } = (await docker.json({ method: 'GET', path: '/system/df', signal })) as {
    readonly BuildCache?: readonly { readonly ID: string; readonly CreatedAt: string }[] | null
  }
  const left = (BuildCache ?? []).filter(({ CreatedAt }) => Date.parse(CreatedAt) >= began.getTime())
  for (const { ID } of left) {
    // The engine keeps entries in use.
    await docker.json({ method: 'POST', path: '/build/prune', query: { all: true, filters: { id: [ID] } }, signal })
  }
}
