import { readConfig, socketOf } from '../../server/config.ts'
import type { SocketCall } from '../../server/lib/socket-http.ts'
import { openDocker } from './docker.ts'

/** The engine of servers under test unless a test names another one. */
export const usualSocket = socketOf(readConfig())

export interface Labelled {
  readonly Id: string
  readonly State?: string
  readonly Labels: Readonly<Record<string, string>> | null
}

type Volume = Pick<Labelled, 'Labels'> & { readonly Name: string }

/** Whether it is not of the BuildKit that builds for an organization. */
const isOfService = ({ Labels }: Pick<Labelled, 'Labels'>): boolean => Labels?.['quayside.builder'] === undefined

/**
 * What a Docker Engine has, seen independently of the server that uses it. Labels have the form
 * `name=value`.
 */
export interface EngineView {
  readonly socketPath: string
  /** Sends a call to the engine's API. Returns undefined for 404 and throws for other errors. */
  ask(method: SocketCall['method'], path: string, body?: object): Promise<unknown>
  /** Lists containers, including stopped ones, without those of builders. */
  containersWith(...labels: string[]): Promise<Labelled[]>
  networksWith(...labels: string[]): Promise<Labelled[]>
  /** Lists the names of volumes, without the caches of builders. */
  volumesWith(...labels: string[]): Promise<string[]>
  /** Lists the images that were built for a service. */
  imagesOf(service: string): Promise<Labelled[]>
  /** Removes everything that belongs to an installation, and the images built for its services. */
  removeInstallation(instance: string, services: readonly string[]): Promise<void>
}

export function viewEngine(socketPath = usualSocket): EngineView {
  const docker = openDocker(socketPath)
  const ask: EngineView['ask'] = (method, path, body) => docker.ask({ method, path, ...(body && { body }) })
  const list = async (path: string, labels: readonly string[]): Promise<Labelled[]> => {
    const answer = await ask('GET', `${path}filters=${encodeURIComponent(JSON.stringify({ label: labels }))}`)
    // Docker's published API returns lists of objects. Tests read only the fields of `Labelled`.
    return Array.isArray(answer) ? (answer as Labelled[]) : []
  }
  const containers = (labels: readonly string[]) => list('/containers/json?all=true&', labels)
  const volumes = async (labels: readonly string[]): Promise<Volume[]> => {
    const filters = encodeURIComponent(JSON.stringify({ label: labels }))
    const found: unknown = Object(await ask('GET', `/volumes?filters=${filters}`)).Volumes
    return Array.isArray(found) ? (found as Volume[]) : []
  }
  const view: EngineView = {
    socketPath,
    ask,
    containersWith: async (...labels) => (await containers(labels)).filter(isOfService),
    networksWith: (...labels) => list('/networks?', labels),
    volumesWith: async (...labels) => (await volumes(labels)).filter(isOfService).map(({ Name }) => Name),
    imagesOf: async (service) => {
      // By name, because a promoted image keeps the label of the service that built it.
      const filters = encodeURIComponent(JSON.stringify({ reference: [`quayside/${service}`] }))
      const answer = await ask('GET', `/images/json?filters=${filters}`)
      return Array.isArray(answer) ? (answer as Labelled[]) : []
    },
    removeInstallation: async (instance, services) => {
      const label = `quayside.instance=${instance}`
      // Containers first, because they use the other objects.
      for (const { Id } of await containers([label])) await ask('DELETE', `/containers/${Id}?force=true&v=true`)
      for (const { Id } of await view.networksWith(label)) await ask('DELETE', `/networks/${Id}`)
      for (const { Name } of await volumes([label])) await ask('DELETE', `/volumes/${Name}?force=true`)
      for (const service of services) {
        for (const { Id } of await view.imagesOf(service)) await ask('DELETE', `/images/${Id}?force=true`)
      }
    },
  }
  return view
}
