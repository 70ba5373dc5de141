import { readConfig } from '../../server/config.ts'
import type { SocketCall } from '../../server/lib/socket-http.ts'
import { openDocker } from './docker.ts'

/** The engine that servers under test use unless they are told another one. */
export const usualSocket = readConfig().dockerSocket

export interface Labelled {
  readonly Id: string
  readonly State?: string
  readonly Labels: Readonly<Record<string, string>> | null
}

/**
 * What a Docker Engine has, seen beside the server that uses it. Labels are given as `name=value`.
 */
export interface EngineView {
  readonly socketPath: string
  /** One call of the engine's API; `undefined` for 404. Throws on other refusals. */
  ask(method: SocketCall['method'], path: string, body?: object): Promise<unknown>
  /** Also stopped ones. */
  containersWith(...labels: string[]): Promise<Labelled[]>
  networksWith(...labels: string[]): Promise<Labelled[]>
  /** Names. */
  volumesWith(...labels: string[]): Promise<string[]>
  /** Everything that a service has of what was built. */
  imagesOf(service: string): Promise<Labelled[]>
  /** Removes everything of one installation, and what was built for its services. */
  removeInstallation(instance: string, services: readonly string[]): Promise<void>
}

export function viewEngine(socketPath = usualSocket): EngineView {
  const docker = openDocker(socketPath)
  const ask: EngineView['ask'] = (method, path, body) => docker.ask({ method, path, ...(body && { body }) })
  const list = async (path: string, labels: readonly string[]): Promise<Labelled[]> => {
    const answer = await ask('GET', `${path}filters=${encodeURIComponent(JSON.stringify({ label: labels }))}`)
    // Lists of objects by Docker's published API; what a test reads of them is what `Labelled`
    // names.
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
      // By name: the label of an image that was promoted tells for whom it was built.
      const filters = encodeURIComponent(JSON.stringify({ reference: [`quayside/${service}`] }))
      const answer = await ask('GET', `/images/json?filters=${filters}`)
      return Array.isArray(answer) ? (answer as Labelled[]) : []
    },
    removeInstallation: async (instance, services) => {
      const label = `quayside.instance=${instance}`
      // Containers first, for they hold the rest.
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
