import { until } from '../../support/until.ts'

/** The part of a server under test that a container needs. Throws unless a call succeeds. */
type Must = <T>(method: string, path: string, body?: unknown) => Promise<T>

/** A container of a server under test, whose program answers every request with a text. */
export interface TestContainer {
  readonly id: string
  readonly environmentId: string
  /** The host of its URL. */
  readonly host: string
  /** Lets its next release answer with this text. */
  edit(answer: string): Promise<void>
  /** Waits until it has no running or queued request. Returns its state and the reason. */
  settles(): Promise<Status>
}

interface Status {
  readonly state: string
  readonly reason: string | null
  readonly deployment_request_id: string | null
  readonly deployment_requests_count: number
}

/** The program of an image with Node.js. It keeps answering until clients have left. */
const answering = (answer: string): string => `
  const server = require('http').createServer((_, reply) => reply.end(${JSON.stringify(answer)})).listen(8080)
  process.on('SIGTERM', () => server.close(() => process.exit(0)))`

/** Creates a container of the image of the tests in an environment of its own. */
export async function makeContainer(
  must: Must,
  at: {
    readonly organizationId: string
    readonly clusterId: string
    /** The registry with the image, `address:port`. */
    readonly source: string
    readonly tag: string
  },
): Promise<TestContainer> {
  const organization = `/organization/${at.organizationId}`
  const named = { name: 'shop' }
  const project = await must<{ id: string }>('POST', `${organization}/project`, named)
  const place = { ...named, cluster: at.clusterId }
  const environment = await must<{ id: string }>('POST', `/project/${project.id}/environment`, place)
  const registry = await must<{ id: string }>('POST', `${organization}/containerRegistry`, {
    name: 'source',
    kind: 'GENERIC_CR',
    url: `https://${at.source}`,
    config: {},
  })
  const body = (answer: string) => ({
    name: 'web',
    registry_id: registry.id,
    image_name: 'quayside-engine-test/node',
    tag: at.tag,
    entrypoint: 'node',
    arguments: ['-e', answering(answer)],
    cpu: 20,
    memory: 64,
    healthchecks: {},
    ports: [{ internal_port: 8080, publicly_accessible: true, protocol: 'HTTP' }],
  })
  const { id } = await must<{ id: string }>('POST', `/environment/${environment.id}/container`, body('first'))
  const links = await must<{ results: { url: string }[] }>('GET', `/container/${id}/link`)
  return {
    id,
    environmentId: environment.id,
    host: new URL(links.results[0]?.url ?? '').hostname,
    edit: async (answer) => void (await must('PUT', `/container/${id}`, body(answer))),
    settles: async () => {
      let last: Status | undefined
      const look = async () => {
        last = await must<Status>('GET', `/container/${id}/status`)
        return last.deployment_request_id === null && last.deployment_requests_count === 0 && last
      }
      return until('the container is settled', look, { limitMs: 120_000, seen: () => last })
    },
  }
}
