import { localBuilderImage } from '../../engines/index.ts'
import { systemClock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { SocketHttp } from '../../lib/socket-http.ts'
import { inspectImage } from './docker-images.ts'
import { createOwnBuildKit, type OwnBuildKit, type OwnBuildKitOptions } from './own-buildkit.ts'

/** The platform's own BuildKit for a test. Its daemons are removed at the end. */
export interface TestBuildKit extends OwnBuildKit {
  readonly instance: string
  remove(): Promise<void>
}

/** Creates it. `change` sets other options. */
export function createTestBuildKit(socketPath: string, change: Partial<OwnBuildKitOptions> = {}): TestBuildKit {
  const docker = new SocketHttp({ socketPath })
  const instance = `test-${newId().slice(-12)}`
  const options = {
    socketPath,
    instance,
    clock: systemClock,
    network: 'default',
    maxImageBytes: 8 * 1024 ** 3,
  } as const
  const signal = (): AbortSignal => AbortSignal.timeout(60_000)
  return {
    ...createOwnBuildKit({ ...options, ...change }),
    instance,
    async remove() {
      const query = { all: true, filters: { label: [`quayside.instance=${instance}`] } }
      const containers = await docker.json({ method: 'GET', path: '/containers/json', query, signal: signal() })
      for (const { Id, Names } of Array.isArray(containers) ? containers : []) {
        await docker.json({ method: 'DELETE', path: `/containers/${Id}`, query: { force: true }, signal: signal() })
        // The cache has the name of the container.
        await docker.json({ method: 'DELETE', path: `/volumes${Names[0]}`, signal: signal() })
      }
    },
  }
}

/** Returns why tests with the platform's own BuildKit are skipped; false if they run. */
export async function whyNoOwnBuildKit(socketPath: string, skip: string | false): Promise<string | false> {
  if (skip) return skip
  const image = await inspectImage(new SocketHttp({ socketPath }), localBuilderImage)
  return image ? false : `the engine has no image ${localBuilderImage}; make it with "npm run images builder"`
}
