/** Types for the part of the load generator that the benchmarks use. It has none of its own. */
declare module 'autocannon' {
  interface Request {
    readonly method: string
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
  }
  interface Result {
    readonly duration: number
    readonly '2xx': number
    readonly non2xx: number
    readonly errors: number
  }
  export default function autocannon(options: {
    readonly url: string
    readonly connections: number
    readonly duration: number
    readonly setupClient: (client: { setRequests(requests: readonly Request[]): void }) => void
  }): Promise<Result>
}
