import type { Route, RouteEndpoint } from '@quayside/contract/routes.ts'
import type { Routes } from '../routes.ts'
import { endpointKey, labelIn } from './endpoint-keys.ts'

/** The most keys whose services are remembered after their endpoints have left the table. */
const mostGone = 10_000

/** The services by the keys of their endpoints, also of endpoints that have left the table. */
export class ServicesByEndpoint {
  readonly #routes: Pick<Routes, 'table' | 'endpointsOf' | 'lists'>
  readonly #services = new Map<string, string>()
  /** The keys of the last two services at an `address:port`. The last one is current. */
  readonly #keys = new Map<string, readonly string[]>()
  /** At this size, endpoints that have left are forgotten. */
  #most = mostGone

  constructor(routes: Pick<Routes, 'table' | 'endpointsOf' | 'lists'>) {
    this.#routes = routes
  }

  /** Must be called for each new route, and when its endpoints change. */
  note({ service }: Route, endpoints: readonly RouteEndpoint[]): void {
    if (this.#services.size > this.#most) this.#forget()
    for (const endpoint of endpoints) {
      const key = endpointKey(endpoint, service)
      const label = labelIn(key)
      const [last] = this.#keys.get(label)?.slice(-1) ?? []
      if (last !== key) this.#keys.set(label, last === undefined ? [key] : [last, key])
      this.#services.set(key, service)
    }
  }

  /** Returns the service of an endpoint, by its key. */
  at(key: string): string | undefined {
    return this.#services.get(key)
  }

  /** Returns the keys of an endpoint. Undefined if it has not been in the table of this process. */
  keysOf({ address, port }: RouteEndpoint): readonly string[] | undefined {
    return this.#keys.get(`${address}:${port}`)
  }

  /** Whether the table lists an endpoint for the service of this key. */
  isListed(key: string): boolean {
    const label = labelIn(key)
    if (this.#keys.get(label)?.at(-1) !== key) return false
    const colon = label.lastIndexOf(':')
    return this.#routes.lists({ address: label.slice(0, colon), port: Number(label.slice(colon + 1)) })
  }

  #forget(): void {
    for (const key of this.#services.keys()) if (!this.isListed(key)) this.#services.delete(key)
    for (const [label, keys] of this.#keys) {
      if (!keys.some((key) => this.#services.has(key))) this.#keys.delete(label)
    }
    this.#most = this.#services.size + mostGone
  }
}
