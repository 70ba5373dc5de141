import type { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { isRefusedWith, type SocketCall, SocketHttp } from '../../server/lib/socket-http.ts'

type Call = Omit<SocketCall, 'signal'>

/** A container made by a test, with the calls of Docker's API that tests use. */
export interface TestContainer {
  start(): Promise<void>
  /** Unpacks a tar archive into a directory of the container. */
  put(archive: Buffer, directory: string): Promise<void>
  /** Returns the address in a network. Empty unless the container runs. */
  address(network: string): Promise<string>
  /** Waits until the program ends. Returns its exit code. */
  wait(): Promise<number>
  /** Returns what the program printed, without the frames of the API. */
  output(): Promise<string>
  /** Sends the stop signal, and SIGKILL after this many seconds. Returns the exit code. */
  stop(seconds: number): Promise<number>
  /** Removes the container unless it is gone. */
  remove(): Promise<void>
}

/** An image, as `GET /images/{name}/json` describes it. */
export interface TestImage {
  readonly Id: string
  readonly RepoTags: readonly string[]
  readonly Config: { readonly Labels?: Readonly<Record<string, string>> | null }
}

/** Docker's API for tests. It is independent of the engine and the builder under test. */
export interface Docker {
  /** Sends any call. Returns the JSON answer, or undefined for 404 and for other content. */
  ask(call: Call): Promise<unknown>
  createContainer(spec: object): Promise<TestContainer>
  /** Returns a function that removes the network. */
  createNetwork(spec: object): Promise<() => Promise<void>>
  inspectImage(name: string): Promise<TestImage>
  historyOf(image: string): Promise<unknown>
  /** Returns an image and its layers as a tar archive. */
  archiveOf(image: string): Promise<Readable>
  /** Loads images from a tar archive. */
  load(archive: Readable): Promise<void>
  /** Builds an image with BuildKit from a tar archive that has a Dockerfile. */
  build(archive: Readable, tag: string): Promise<void>
}

/** The timeout of a call. A test that waits longer for Docker has failed. */
const limit = (): AbortSignal => AbortSignal.timeout(120_000)

export function openDocker(socketPath: string): Docker {
  const http = new SocketHttp({ socketPath })
  const must = (call: Call): Promise<unknown> => http.json({ ...call, signal: limit() })
  const ask = (call: Call): Promise<unknown> => must(call).catch(absent)
  const stream = (call: Call) => http.stream({ ...call, signal: limit() })
  return {
    ask,
    createContainer: async (spec) => {
      const made = await must({ method: 'POST', path: '/containers/create', body: spec })
      return containerOf({ ask, must, stream }, String(Object(made).Id))
    },
    createNetwork: async (spec) => {
      const made = await must({ method: 'POST', path: '/networks/create', body: spec })
      return async () => void (await ask({ method: 'DELETE', path: `/networks/${Object(made).Id}` }))
    },
    // The shapes are those of Docker's published API.
    inspectImage: async (name) => (await must({ method: 'GET', path: `/images/${name}/json` })) as TestImage,
    historyOf: (image) => must({ method: 'GET', path: `/images/${image}/history` }),
    archiveOf: (image) => stream({ method: 'GET', path: `/images/${image}/get` }),
    load: async (archive) => {
      throwIfFailed(await text(await stream({ method: 'POST', path: '/images/load', file: archive })))
    },
    build: async (archive, tag) => {
      const query = { version: '2', t: tag, dockerfile: 'Dockerfile' }
      throwIfFailed(await text(await stream({ method: 'POST', path: '/build', query, file: archive })))
    },
  }
}

/** Returns undefined if the engine does not have the object. */
function absent(error: unknown): undefined {
  if (!isRefusedWith(error, 404)) throw error
}

/** Throws if the progress that Docker reported ends with an error. */
function throwIfFailed(progress: string): void {
  if (/"error(?:Detail)?":/.test(progress)) throw new Error(`Docker failed: ${progress.slice(-500)}`)
}

interface Line {
  readonly ask: Docker['ask']
  /** Throws for 404, too. */
  must(call: Call): Promise<unknown>
  stream(call: Call): Promise<Readable>
}

function containerOf({ ask, must, stream }: Line, id: string): TestContainer {
  const path = `/containers/${id}`
  const inspect = async () => Object(await must({ method: 'GET', path: `${path}/json` }))
  return {
    start: async () => void (await must({ method: 'POST', path: `${path}/start` })),
    put: async (file, directory) =>
      void (await must({ method: 'PUT', path: `${path}/archive`, query: { path: directory }, file })),
    address: async (network) => String((await inspect()).NetworkSettings.Networks[network]?.IPAddress ?? ''),
    wait: async () => Number(Object(await must({ method: 'POST', path: `${path}/wait` })).StatusCode),
    output: async () => {
      const query = { stdout: true, stderr: true }
      return withoutFrames(await buffer(await stream({ method: 'GET', path: `${path}/logs`, query })))
    },
    stop: async (seconds) => {
      await must({ method: 'POST', path: `${path}/stop`, query: { t: seconds } })
      return Number((await inspect()).State.ExitCode)
    },
    remove: async () => void (await ask({ method: 'DELETE', path, query: { force: true } })),
  }
}

/** Each frame of a log has a header of eight bytes. Its last four bytes are the length. */
function withoutFrames(log: Buffer): string {
  let printed = ''
  for (let at = 0; at + 8 <= log.length; ) {
    const end = at + 8 + log.readUInt32BE(at + 4)
    printed += log.toString('utf8', at + 8, end)
    at = end
  }
  return printed
}
