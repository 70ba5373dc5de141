import type { Agent } from 'node:http'
import type { Session } from './figure.ts'
import { type Answer, ask } from './http.ts'
import type { Installation } from './installation.ts'
import { createRepository, type Repository } from './repository.ts'
import { until } from './until.ts'

/** The limits of the application and of the floor's container. */
export const limits = { cpuMilli: 1000, memoryMiB: 256 }

/** An application of an installation, with its repository. */
export interface Application {
  readonly id: string
  readonly host: string
  readonly repository: Repository
  /** Sends one request through the router. */
  ask(path: string, agent?: Agent): Promise<Answer>
  /** Requests the deployment of the head of its branch. */
  deploy(): Promise<void>
  /** Polls until its state is DEPLOYED. Throws if the deployment fails. */
  untilDeployed(): Promise<void>
  /** Polls until no work is in progress for it and the previous version is gone. */
  untilIdle(): Promise<void>
}

/** The cluster of an application, and the address at which it is reached. */
export interface Place {
  /** The name of the application, its project and its repository. */
  readonly name: string
  readonly cluster: string
  readonly host: string
  readonly port: number
}

/**
 * Creates the application in its own environment and deploys its first version. Without a place it
 * runs on the machine itself.
 */
export async function createApplication(
  session: Session,
  installation: Installation,
  settings: object = {},
  place?: Place,
): Promise<Application> {
  const name = place?.name ?? 'bench'
  const repository = await createRepository(session, installation, name)
  await repository.push('first')
  const { id } = await declare(installation, settings, place)
  const path = `/application/${id}`
  const { results } = await installation.api('GET', `${path}/link`)
  const host = hostOf(results)
  const untilStatus = async (what: string, isSo: (status: Readonly<Record<string, unknown>>) => boolean) => {
    await until(
      `the application is ${what}`,
      async () => {
        const status = await installation.api('GET', `${path}/status`)
        if (/ERROR|CANCELED/.test(String(status.state))) throw new Error(`${status.state}: ${status.reason}`)
        return isSo(status)
      },
      { limitMs: 120_000 },
    )
  }
  const application: Application = {
    id,
    host,
    repository,
    ask: (page, own) => {
      const { host: address = '127.0.0.1', port = installation.routerPort } = place ?? {}
      return ask({ host: address, port, path: page, headers: { host }, ...(own && { agent: own }) })
    },
    deploy: async () => void (await installation.api('POST', `${path}/deploy`, {})),
    untilDeployed: () => untilStatus('DEPLOYED', ({ state }) => state === 'DEPLOYED'),
    untilIdle: () => untilStatus('idle', ({ deployment_request_id }) => deployment_request_id === null),
  }
  await application.deploy()
  await application.untilIdle()
  return application
}

async function declare({ api, port }: Installation, settings: object, place?: Place): Promise<{ id: string }> {
  const organization = firstId((await api('GET', '/organization')).results)
  const name = place?.name ?? 'bench'
  const project = await api('POST', `/organization/${organization}/project`, { name })
  const environment = await api('POST', `/project/${project.id}/environment`, {
    name,
    ...(place && { cluster: place.cluster }),
  })
  const { id } = await api('POST', `/environment/${environment.id}/application`, {
    name,
    git_repository: { url: `http://localhost:${port}/git/${name}.git`, branch: 'main' },
    cpu: limits.cpuMilli,
    memory: limits.memoryMiB,
    ports: [{ internal_port: 8080, publicly_accessible: true, protocol: 'HTTP' }],
    ...settings,
  })
  return { id: String(id) }
}

const listed = (results: unknown): Readonly<Record<string, unknown>> => (Array.isArray(results) ? results[0] : {})
const firstId = (results: unknown): string => String(listed(results).id)
const hostOf = (results: unknown): string => new URL(String(listed(results).url)).hostname
