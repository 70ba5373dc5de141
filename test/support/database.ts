import assert from 'node:assert/strict'
import type { Static } from '@quayside/contract'
import type { Credentials, Database as DatabaseRecord } from '@quayside/contract/services/database.ts'
import { DockerEngine } from '../../server/engines/index.ts'
import { systemClock as clock } from '../../server/lib/clock.ts'
import type { StatusReply } from './application.ts'
import { databaseImages } from './database-images.ts'
import type { ServerProcess } from './server-process.ts'
import { until } from './until.ts'

export type DatabaseReply = Static<typeof DatabaseRecord>

/** A service other than an application, on a server under test. */
export interface TestService {
  readonly id: string
  readonly path: string
  /**
   * Requests an action and waits until it ends. Fails with the reason unless the service is then in
   * this state.
   */
  acts(action: 'deploy' | 'stop' | 'restart-service' | 'uninstall', state?: string): Promise<StatusReply>
  settles(): Promise<StatusReply>
  /** Runs a command in the container. Returns its exit code and output. */
  exec(...command: readonly string[]): Promise<{ exitCode: number; output: string }>
  /** Returns what the current container printed. */
  printed(): Promise<string>
}

export interface TestDatabase extends TestService {
  readonly record: () => Promise<DatabaseReply>
  readonly credentials: () => Promise<Static<typeof Credentials>>
  /** Changes settings. Returns the status and the message of the answer. */
  readonly edit: (change: object) => Promise<{ status: number; message: string }>
}

export async function makeDatabase(
  server: ServerProcess,
  environmentId: string,
  type: keyof typeof databaseImages,
  settings: object = {},
): Promise<TestDatabase> {
  const { image: _, ...asked } = databaseImages[type]
  const body = { name: type, mode: 'CONTAINER', ...asked, ...settings }
  const { id } = await server.must<DatabaseReply>('POST', `/environment/${environmentId}/database`, body)
  const path = `/database/${id}`
  return {
    ...serviceAt(server, path),
    record: () => server.must('GET', path),
    credentials: () => server.must('GET', `${path}/masterCredentials`),
    edit: async (change) => {
      const { status, body } = await server.api<{ message?: string }>('PUT', path, change)
      return { status, message: body.message ?? '' }
    },
  }
}

/** Makes a client: an idle container of a database image, with the variables of its environment. */
export async function makeClient(
  server: ServerProcess,
  environmentId: string,
  type: keyof typeof databaseImages,
): Promise<TestService> {
  const registries = await server.must<{ results: { id: string }[] }>(
    'GET',
    `/organization/${server.organizationId}/containerRegistry`,
  )
  const { image, version } = databaseImages[type]
  const { id } = await server.must<{ id: string }>('POST', `/environment/${environmentId}/container`, {
    name: `client-of-${type}`,
    registry_id: registries.results[0]?.id,
    image_name: `library/${image}`,
    tag: version,
    cpu: 250,
    memory: 64,
    entrypoint: 'sleep',
    arguments: ['infinity'],
    ports: [],
    healthchecks: {},
  })
  return serviceAt(server, `/container/${id}`)
}

function serviceAt(server: ServerProcess, path: string): TestService {
  const id = path.split('/').at(-1) ?? ''
  const { socketPath } = server.engine
  const engine = new DockerEngine({ socketPath, instance: server.instance, clock })
  const settles = async (): Promise<StatusReply> => {
    let last: StatusReply | undefined
    const look = async () => {
      last = await server.must<StatusReply>('GET', `${path}/status`)
      return last.deployment_request_id === null && last.deployment_requests_count === 0 ? last : undefined
    }
    return until(`${path} is settled`, look, { limitMs: 90_000, seen: () => last })
  }
  return {
    id,
    path,
    settles,
    acts: async (action, state = action === 'restart-service' ? 'RESTARTED' : 'DEPLOYED') => {
      await server.must('POST', `${path}/${action}`, action === 'deploy' ? {} : undefined)
      const status = await settles()
      assert.equal(status.state, state, status.reason ?? undefined)
      return status
    },
    printed: async () => {
      const lines: string[] = []
      for await (const { text } of engine.logs(id, { follow: false }, AbortSignal.timeout(10_000))) lines.push(text)
      return lines.join('\n')
    },
    exec: (...command) => engine.exec(id, command, AbortSignal.timeout(30_000)),
  }
}
