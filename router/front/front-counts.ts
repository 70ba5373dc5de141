import type { RouteEndpoint } from '@quayside/contract/routes.ts'
import { monotonic, sleep } from '../clock.ts'
import { askFrontIfAny } from './admin-socket.ts'
import { type Carried, openIn, shownCounts, Tallies, type Tally } from './tallies.ts'

const drainLookMs = 20

/** The requests that HAProxy carries, by `address:port` of endpoints. None if it does not run. */
export class FrontCounts {
  readonly #admin: string
  readonly #isRunning: () => boolean
  readonly #tallies: Tallies

  constructor(admin: string, isListed: (label: string) => boolean, isRunning: () => boolean) {
    this.#admin = admin
    this.#isRunning = isRunning
    this.#tallies = new Tallies(isListed)
  }

  /** Must be called if another HAProxy runs, or none: its counts begin at zero. */
  restart(): void {
    this.#tallies.restart()
  }

  /** Returns what HAProxy carried for each endpoint since the last call. */
  async carried(): Promise<ReadonlyMap<string, Carried>> {
    await this.tallies()
    return this.#tallies.take()
  }

  /** Returns the requests of each endpoint that had any. */
  async tallies(): Promise<ReadonlyMap<string, Tally>> {
    return this.#tallies.read(await this.#ask('show table endpoints'))
  }

  /**
   * Waits until these endpoints have no open request, for at most `timeoutMs` or until `signal`.
   * Returns how many are still open.
   */
  async drain(endpoints: readonly RouteEndpoint[], timeoutMs: number, signal: AbortSignal): Promise<number> {
    const end = monotonic() + timeoutMs
    const keys = endpoints.map(({ address, port }) => `${address}:${port}`)
    // A request that has read its line is counted a moment later. So one look is not enough.
    for (let empty = 0; ; ) {
      const open = await this.#openAt(keys)
      empty = open === 0 ? empty + 1 : 0
      if (empty === 2 || (open > 0 && (signal.aborted || monotonic() >= end))) return open
      await sleep(drainLookMs)
    }
  }

  async #openAt(keys: readonly string[]): Promise<number> {
    let open = 0
    for (const line of shownCounts(keys)) open += openIn((await this.#ask(line)) ?? '')
    return open
  }

  async #ask(command: string): Promise<string | undefined> {
    return this.#isRunning() ? await askFrontIfAny(this.#admin, command) : undefined
  }
}
