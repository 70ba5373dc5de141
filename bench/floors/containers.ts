import { connect } from 'node:net'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { engine } from '../docker.ts'
import { until } from '../until.ts'

/**
 * Measures how long the engine alone takes to start several containers of an image in parallel,
 * until each accepts a connection. With `network`, they are on their own network. In milliseconds.
 * Removes everything afterwards.
 */
export async function bareContainers(
  image: string,
  command: readonly string[],
  { count, network }: { readonly count: number; readonly network?: string },
): Promise<number> {
  const removeNetwork = network === undefined ? undefined : await engine.createNetwork({ Name: network })
  const startedAt = clock.monotonic()
  const started = await Promise.all(Array.from({ length: count }, () => start(image, command, network ?? 'bridge')))
  const took = clock.monotonic() - startedAt
  await Promise.all(started.map((container) => container.remove()))
  await removeNetwork?.()
  return took
}

async function start(image: string, command: readonly string[], network: string) {
  const container = await engine.createContainer({
    Image: image,
    Cmd: [...command],
    HostConfig: { NanoCpus: 250_000_000, Memory: 64 * 1024 * 1024, PidsLimit: 512, NetworkMode: network },
  })
  await container.start()
  const host = await container.address(network)
  await until('the bare container answers', () => answers(host), { everyMs: 3 })
  return container
}

function answers(host: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host, port: 8080 })
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}
