import type { Route, RouteEndpoint } from '@quayside/contract/routes.ts'
import type { Routes } from '../routes.ts'

/** The most endpoints whose services are remembered after they have left the table. */
const mostGone = 10_000

/** The services of endpoints, also of endpoints that have left the table a while ago. */
export class ServicesByEndpoint {
  readonly #routes: Pick<Routes, 'table' | 'endpointsOf' | 'lists'>
  readonly #services = new Map<string, string>()
  /** At this size, endpoints that have left are forgotten. */
  #most = mostGone

  constructor(routes: Pick<Routes, 'table' | 'endpointsOf' | 'lists'>) {
    this.#routes = routes
  }

  /** Must be called for each new route, and when its endpoints change. */
  note({ service }: Route, endpoints: readonly RouteEndpoint[]): void {
    if (this.#services.size > this.#most) this.#forget()
    for (const { address, port } of endpoints) this.#services.set(`${address}:${port}`, service)
  }

  /** Returns the service of an endpoint, by `address:port`. */
  at(label: string): string | undefined {
    return this.#services.get(label)
  }

  /** Whether the table lists an endpoint, by `address:port`. */
  isListed(label: string): boolean {
    const colon = label.lastIndexOf(':')
    return this.#routes.lists({ address: label.slice(0, colon), port: Number(label.slice(colon + 1)) })
  }

  #forget(): void {
    for (const label of this.#services.keys()) if (!this.isListed(label)) this.#services.delete(label)
    this.#most = this.#services.size + mostGone
  }
}
