import type { LineStore } from './line-store.ts'
import { followSocket } from './socket.ts'

/** The objects that name a service in a stream. They must belong together. */
export interface ServicePlace {
  readonly organization: string
  readonly cluster: string
  readonly project: string
  readonly environment: string
  readonly service: string
  /** A replica, or a run of a job. Absent for all of them. */
  readonly pod_name?: string
}

const lastLines = 1_000
/** The API sends no more lines at once. */
const mostLines = 10_000

/** The lines of a service that are wanted. */
export interface LinesWish {
  readonly place: ServicePlace
  /** A part of their text, for which the server looks in everything that it stores. */
  readonly text?: string | undefined
  /** The execution to which they belong. */
  readonly deployment?: string | undefined
  /** The moment of the last one, in milliseconds since 1970. Without it, new lines follow. */
  readonly until?: number | undefined
  readonly onEnd?: (reason: string) => void
}

/**
 * Adds the last lines of a service to the store, and then new ones. A connection that breaks
 * continues after the last line. Returns a function that ends it.
 */
export function followLines(store: LineStore, { place, text, deployment, until, onEnd }: LinesWish): () => void {
  const after = new Continuation()
  return followSocket({
    path: '/service/logs',
    query: () => ({
      ...place,
      batch: '200',
      limit: String(after.isBegun || until !== undefined ? mostLines : lastLines),
      ...(text && { query: text }),
      ...(deployment && { deployment_id: deployment }),
      ...(until !== undefined && { end: new Date(until).toISOString() }),
      ...after.query(),
    }),
    onMessage: (lines) => {
      for (const line of Array.isArray(lines) ? lines : []) {
        const { created_at, pod_name: pod, message } = Object(line)
        const at = Number(created_at)
        if (after.isNew(at)) store.push({ at, pod: String(pod ?? ''), text: String(message) })
      }
    },
    ...(onEnd && { onEnd }),
  })
}

/** Finds the lines after the last one. The lines of its millisecond are sent again. */
class Continuation {
  #last: number | undefined
  /** The lines of the last millisecond. */
  #count = 0
  #skip = 0

  get isBegun(): boolean {
    return this.#last !== undefined
  }

  /** Returns the parameters of the next connection. */
  query(): Readonly<Record<string, string>> {
    if (this.#last === undefined) return {}
    this.#skip = this.#count
    return { start: new Date(this.#last).toISOString() }
  }

  isNew(at: number): boolean {
    if (at === this.#last && this.#skip > 0) {
      this.#skip--
      return false
    }
    this.#skip = 0
    this.#count = at === this.#last ? this.#count + 1 : 1
    this.#last = at
    return true
  }
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
