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

/**
 * What a Docker Engine has, seen independently of the server that uses it. Labels have the form
 * `name=value`.
 */
export interface EngineView {
  readonly socketPath: string
  /** Sends a call to the engine's API. Returns undefined for 404 and throws for other errors. */
  ask(method: SocketCall['method'], path: string, body?: object): Promise<unknown>
  /** Lists containers, including stopped ones. */
  containersWith(...labels: string[]): Promise<Labelled[]>
  networksWith(...labels: string[]): Promise<Labelled[]>
  /** Lists the names of volumes. */
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
  const view: EngineView = {
    socketPath,
    ask,
    containersWith: (...labels) => list('/containers/json?all=true&', labels),
    networksWith: (...labels) => list('/networks?', labels),
    volumesWith: async (...labels) => {
      const filters = encodeURIComponent(JSON.stringify({ label: labels }))
      const volumes: unknown = Object(await ask('GET', `/volumes?filters=${filters}`)).Volumes
      return Array.isArray(volumes) ? volumes.map((volume) => String(Object(volume).Name)) : []
    },
    imagesOf: async (service) => {
      // By name, because a promoted image keeps the label of the service that built it.
      const filters = encodeURIComponent(JSON.stringify({ reference: [`quayside/${service}`] }))
      const answer = await ask('GET', `/images/json?filters=${filters}`)
      return Array.isArray(answer) ? (answer as Labelled[]) : []
    },
    removeInstallation: async (instance, services) => {
      const label = `quayside.instance=${instance}`
      // Containers first, because they use the other objects.
      for (const { Id } of await view.containersWith(label)) await ask('DELETE', `/containers/${Id}?force=true&v=true`)
      for (const { Id } of await view.networksWith(label)) await ask('DELETE', `/networks/${Id}`)
      for (const name of await view.volumesWith(label)) await ask('DELETE', `/volumes/${name}?force=true`)
      for (const service of services) {
        for (const { Id } of await view.imagesOf(service)) await ask('DELETE', `/images/${Id}?force=true`)
      }
    },
  }
  return view
}
