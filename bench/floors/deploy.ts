import { Readable } from 'node:stream'
import { pack } from 'tar-stream'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { limits } from '../application.ts'
import { docker, engine } from '../docker.ts'
import { ask } from '../http.ts'
import { dockerfile, sourceOf } from '../repository.ts'
import { until } from '../until.ts'

const image = 'quayside-bench-floor'

/**
 * Measures how long the engine alone takes for a changed source: build with BuildKit, create,
 * start, first 200. In milliseconds. Removes everything afterwards.
 */
export async function bareDeployment(version: string): Promise<number> {
  const startedAt = clock.monotonic()
  await bareImage(version)
  try {
    await bareStart(version)
    return clock.monotonic() - startedAt
  } finally {
    await removeBareImage(version)
  }
}

/** Builds the image that `bareStart` runs. */
export async function bareImage(version: string): Promise<void> {
  const files = pack()
  files.entry({ name: 'Dockerfile' }, await dockerfile())
  files.entry({ name: 'server.js' }, await sourceOf(version))
  files.finalize()
  await engine.build(Readable.from(files, { objectMode: false }), `${image}:${version}`)
}

export const removeBareImage = async (version: string): Promise<void> =>
  void (await docker('DELETE', `/images/${image}:${version}`, { force: true }))

/**
 * Measures how long the engine alone takes for an existing image: create, start, first 200. In
 * milliseconds.
 */
export async function bareStart(version: string): Promise<number> {
  const startedAt = clock.monotonic()
  const container = await engine.createContainer({
    Image: `${image}:${version}`,
    HostConfig: {
      NanoCpus: limits.cpuMilli * 1_000_000,
      Memory: limits.memoryMiB * 1024 * 1024,
      MemorySwap: limits.memoryMiB * 1024 * 1024,
      PidsLimit: 512,
    },
  })
  try {
    await container.start()
    const address = await container.address('bridge')
    await until('the bare container answers', () => answers(address), { everyMs: 3 })
    return clock.monotonic() - startedAt
  } finally {
    await container.remove()
  }
}

const answers = async (host: string): Promise<boolean> =>
  (await ask({ host, port: 8080, path: '/health', timeoutMs: 1000 }).catch(() => undefined))?.status === 200
