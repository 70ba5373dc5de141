import { fetchImage } from '../fetch-image.ts'
import { pinImage } from '../pin-image.ts'
import { startTestDocker, type TestDocker, type TestDockerOptions } from './test-docker.ts'
import { type Misbehaviour, startTestRegistry, type TestImage, type TestRegistry } from './test-registry.ts'

/** Answers every request with this status. */
export const status =
  (code: number, message = ''): Misbehaviour =>
  (_request, response) => {
    response.writeHead(code).end(JSON.stringify({ errors: [{ message }] }))
    return true
  }
/** Answers every request with this body. */
export const say =
  (body: string | Buffer): Misbehaviour =>
  (_request, response) => {
    response.end(body)
    return true
  }
export const isBlob = (path: string | undefined): boolean => /\/blobs\//.test(path ?? '')

/** A registry, the parts that fetch from it, and a fake daemon. */
export interface FetchBench extends AsyncDisposable {
  readonly registry: TestRegistry
  readonly docker: TestDocker
  /** `host/team/web`. */
  readonly name: string
  pin(tag?: string): ReturnType<typeof pinImage>
  fetch(image: TestImage): Promise<void>
}

export async function openFetchBench(options: TestDockerOptions = {}): Promise<FetchBench> {
  const registry = await startTestRegistry()
  const docker = await startTestDocker(options)
  const name = `${registry.host}/team/web`
  return {
    registry,
    docker,
    name,
    pin: (tag = '1') => pinImage(docker.registries, `${name}:${tag}`, undefined, docker.attempt),
    fetch: ({ digest }) => fetchImage(docker.registries, `${name}@${digest}`, undefined, docker.attempt),
    async [Symbol.asyncDispose]() {
      await registry.close()
      await docker[Symbol.asyncDispose]()
    },
  }
}
