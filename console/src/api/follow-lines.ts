import type { LineStore } from './line-store.ts'
import { followSocket } from './socket.ts'

/** The objects that name a service in a stream. They must belong together. */
export interface ServicePlace {
  readonly organization: string
  readonly cluster: string
  readonly project: string
  readonly environment: string
  readonly service: string
}

const lastLines = '1000'

/**
 * Adds the last lines of a service that contain the text to the store, and then new ones. Returns a
 * function that ends it.
 */
export function followLines(store: LineStore, place: ServicePlace, text: string): () => void {
  let start = ''
  return followSocket({
    path: '/service/logs',
    query: () => ({ ...place, limit: lastLines, ...(text && { query: text }), ...(start && { start }) }),
    onMessage: (line) => {
      const { created_at: at, pod_name: pod, message } = Object(line)
      start = new Date(Number(at)).toISOString()
      store.push({ at: Number(at), pod: String(pod ?? ''), text: String(message) })
    },
  })
}

/** Adds the lines of the last deployment of an environment, and of later ones, to the store. */
export function followDeploymentLines(
  store: LineStore,
  { organization, project, environment }: Pick<ServicePlace, 'organization' | 'project' | 'environment'>,
): () => void {
  return followSocket({
    path: '/deployment/logs',
    query: () => {
      // Each connection begins with all lines of the deployment.
      store.clear()
      return { organization, project, environment }
    },
    onMessage: (lines) => {
      for (const line of Array.isArray(lines) ? lines : []) {
        const { timestamp, details, message, error } = Object(line)
        const text = `${details?.transmitter?.name}: ${message?.safe_message ?? error?.user_log_message ?? ''}`
        store.push({ at: Date.parse(String(timestamp)), pod: '', text })
      }
    },
  })
}
