/** What the control plane tells a router: the whole table, every time. Plain data; the same file is read by both sides. */
export interface Route {
  /** Lower-case host name without port; `*.example.org` is every name with one label before `example.org`. */
  readonly host: string
  readonly service: string
  /** For the pages that people see when nothing answers. */
  readonly name: string
  /** Where requests go; empty: `reason` is shown with 503. */
  readonly endpoints: readonly RouteEndpoint[]
  /** Why there is no endpoint: `stopped`, `not deployed yet`, … */
  readonly reason?: string
  /** There is no endpoint because nobody asked for long: requests wait until one is there, and wake the service. */
  readonly asleep?: boolean
}

export interface RouteEndpoint {
  /** IP address. */
  readonly address: string
  readonly port: number
}

export interface RouteTable {
  /** Grows with every change: a router ignores a table older than the one it has. */
  readonly version: number
  readonly routes: readonly Route[]
}
