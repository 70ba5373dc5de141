import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { extract } from 'tar-stream'
import { createAddressGuard, type ResolveHost } from '../../../lib/address.ts'
import { type Clock, systemClock } from '../../../lib/clock.ts'
import { watchEveryMs } from '../../../lib/disk-floor.ts'
import { DockerDaemon } from '../daemon.ts'
import { createRegistries, type Registries } from './registries.ts'
import { sha256 } from './test-registry.ts'

/** An image of the fake daemon. */
export type HeldImage = Readonly<Record<string, unknown>>

/** The parts that fetch images, and a fake daemon that loads archives as Docker does. */
export interface TestDocker extends AsyncDisposable {
  readonly registries: Registries
  readonly attempt: { readonly signal: AbortSignal; readonly output: { line(text: string): void } }
  /** Images by all of their names. */
  readonly images: Map<string, HeldImage>
  /** Names of the layers in each loaded archive. */
  readonly loaded: string[][]
  readonly removed: string[]
  readonly lines: string[]
  readonly waited: number[]
  /** Lets the time pass after which a silent registry counts as away. */
  passSilence(): void
}

export interface TestDockerOptions {
  readonly images?: Readonly<Record<string, HeldImage>>
  readonly info?: object
  readonly loads?: RequestListener
  readonly maxImageBytes?: number
  readonly floorBytes?: number
  readonly resolve?: ResolveHost
  readonly allowed?: readonly string[]
  readonly monotonic?: () => number
  /** The reported size of a loaded image. */
  readonly size?: number
}

const info = { Architecture: 'x86_64', RegistryConfig: { InsecureRegistryCIDRs: ['127.0.0.0/8'], Mirrors: [] } }

export async function startTestDocker(options: TestDockerOptions = {}): Promise<TestDocker> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-fetch-'))
  const images = new Map(Object.entries(options.images ?? {}))
  const [loaded, removed, lines, waited]: [string[][], string[], string[], number[]] = [[], [], [], []]
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').replace(/\?.*$/, '')
    const say = (status: number, body: object): void => void response.writeHead(status).end(JSON.stringify(body))
    if (path === '/info') return say(200, { ...info, ...options.info })
    if (path === '/version') return say(200, { Os: 'linux', Arch: 'amd64' })
    if (path === '/images/json')
      return say(
        200,
        [...images].map(([Id, image]) => ({ ...image, Id })),
      )
    if (path === '/images/load') {
      if (options.loads) return options.loads(request, response)
      return void load(request, options.size ?? 1000, { images, loaded }).then(
        () => say(200, { stream: 'Loaded image' }),
        (error: Error) => say(200, { error: error.message }),
      )
    }
    if (request.method === 'DELETE') {
      removed.push(path)
      images.delete(path.slice('/images/'.length))
      return say(200, [])
    }
    const found = images.get(path.slice('/images/'.length, -'/json'.length))
    say(found ? 200 : 404, found ?? { message: 'No such image' })
  }).listen(join(directory, 'docker.sock'))
  await once(server, 'listening')
  const silence = Promise.withResolvers<void>()
  const clock: Clock = {
    ...systemClock,
    // Pauses end immediately; the long wait for a silent registry ends when the test says so.
    sleep: async (ms, signal) => {
      if (ms === watchEveryMs) return systemClock.sleep(ms, signal)
      if (ms < 90_000) return void waited.push(ms)
      await Promise.race([silence.promise, signal && once(signal, 'abort')])
      signal?.throwIfAborted()
    },
    ...(options.monotonic && { monotonic: options.monotonic }),
  }
  const { resolve, allowed = ['127.0.0.1/32'] } = options
  return {
    registries: createRegistries({
      daemon: new DockerDaemon({ socketPath: join(directory, 'docker.sock'), clock: systemClock }),
      clock,
      guard: createAddressGuard({ allowedPrivateCidrs: allowed, ...(resolve && { resolve }) }),
      maxImageBytes: options.maxImageBytes ?? 2 * 1024 ** 3,
      floorBytes: options.floorBytes ?? 0,
      spoolDirectory: join(directory, 'spool'),
    }),
    attempt: { signal: AbortSignal.timeout(60_000), output: { line: (text) => void lines.push(text) } },
    images,
    loaded,
    removed,
    lines,
    waited,
    passSilence: () => silence.resolve(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await rm(directory, { recursive: true })
    },
  }
}

/**
 * Loads as moby's `image/tarexport` does: a layer that another image has may be missing, and each
 * must have its diff id.
 */
async function load(
  archive: IncomingMessage,
  Size: number,
  { images, loaded }: Pick<TestDocker, 'images' | 'loaded'>,
): Promise<void> {
  const files = new Map<string, Buffer>()
  for await (const entry of archive.pipe(extract())) files.set(entry.header.name, await buffer(entry))
  const [manifest] = JSON.parse(String(files.get('manifest.json')))
  const config = files.get(manifest.Config) ?? Buffer.alloc(0)
  const Layers: string[] = JSON.parse(String(config)).rootfs.diff_ids
  const known = new Set([...images.values()].flatMap(({ RootFS }) => Object(RootFS).Layers ?? []))
  for (const [index, diffId] of Layers.entries()) {
    if (known.has(diffId)) continue
    const layer = files.get(manifest.Layers[index])
    if (!layer) throw new Error(`open ${manifest.Layers[index]}: no such file or directory`)
    if (sha256(layer) !== diffId) throw new Error(`invalid diffID for layer ${index}`)
  }
  loaded.push([...files.keys()].filter((name) => name.endsWith('.tar')))
  for (const tag of manifest.RepoTags)
    images.set(tag, { Id: sha256(config), Size, RepoTags: [tag], RootFS: { Layers } })
}
