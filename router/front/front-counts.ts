import { rm } from 'node:fs/promises'
import type { RouteEndpoint } from '@quayside/contract/routes.ts'
import { monotonic, sleep } from '../clock.ts'
import { askFrontIfAny } from './admin-socket.ts'
import { labelIn } from './endpoint-keys.ts'
import type { FrontFiles } from './front-files.ts'
import { takeLeftCounts, writeLeftCounts } from './left-counts.ts'
import { type Carried, openIn, shownCounts, Tallies, type Tally } from './tallies.ts'

const drainLookMs = 20
const shownTable = 'show table endpoints'

/** The endpoints whose requests are counted. */
export interface CountedEndpoints {
  /** Whether the table lists an endpoint for the service of this key. */
  isListed(key: string): boolean
  /** Returns the keys of an endpoint. Undefined if it has not been in the table of this process. */
  keysOf(endpoint: RouteEndpoint): readonly string[] | undefined
}

/** The requests that HAProxy carries, by the keys of endpoints. None if it does not run. */
export class FrontCounts {
  readonly #files: Pick<FrontFiles, 'admin' | 'counts'>
  readonly #pid: () => number | undefined
  readonly #tallies: Tallies

  readonly #endpoints: CountedEndpoints

  /** Whether the previous router may have left counts. */
  #follows = false

  /** `pid` returns the process of HAProxy, if it runs. */
  constructor(files: Pick<FrontFiles, 'admin' | 'counts'>, endpoints: CountedEndpoints, pid: () => number | undefined) {
    this.#files = files
    this.#endpoints = endpoints
    this.#pid = pid
    this.#tallies = new Tallies((key) => endpoints.isListed(key))
  }

  /** Must be called if another HAProxy runs, or none: its counts begin at zero. */
  restart(): void {
    this.#tallies.restart()
  }

  /**
   * Begins to count at an HAProxy that may have another router. That one counts until it ends, and
   * then leaves its counts. If it is killed, counting begins now.
   */
  async adopt(): Promise<void> {
    await rm(this.#files.counts, { force: true })
    await this.tallies()
    this.#tallies.take()
    this.#follows = true
  }

  /** Returns what HAProxy carried for each endpoint since the last call. */
  async carried(): Promise<ReadonlyMap<string, Carried>> {
    await this.#continue()
    await this.tallies()
    return this.#tallies.take()
  }

  /** Counts like `carried` for the last time, and leaves the next requests to another router. */
  async lastCarried(): Promise<ReadonlyMap<string, Carried>> {
    await this.#continue()
    const pid = this.#pid()
    const text = await this.#ask(shownTable)
    this.#tallies.read(text)
    if (pid !== undefined && text !== undefined) await writeLeftCounts(this.#files.counts, { pid, text })
    return this.#tallies.take()
  }

  async #continue(): Promise<void> {
    if (!this.#follows) return
    this.#follows = false
    const left = await takeLeftCounts(this.#files.counts)
    if (left && left.pid === this.#pid()) this.#tallies.continueAfter(left.text)
  }

  /** Returns the requests of each endpoint that had any. */
  async tallies(): Promise<ReadonlyMap<string, Tally>> {
    return this.#tallies.read(await this.#ask(shownTable))
  }

  /**
   * Waits until these endpoints have no open request, for at most `timeoutMs` or until `signal`.
   * Returns how many are still open.
   */
  async drain(endpoints: readonly RouteEndpoint[], timeoutMs: number, signal: AbortSignal): Promise<number> {
    const end = monotonic() + timeoutMs
    const keys = await this.#keysOf(endpoints)
    // A request that has read its line is counted a moment later. So one look is not enough.
    for (let empty = 0; ; ) {
      const open = await this.#openAt(keys)
      empty = open === 0 ? empty + 1 : 0
      if (empty === 2 || (open > 0 && (signal.aborted || monotonic() >= end))) return open
      await sleep(drainLookMs)
    }
  }

  /** A previous router of the same HAProxy may have removed an endpoint that this one never had. */
  async #keysOf(endpoints: readonly RouteEndpoint[]): Promise<readonly string[]> {
    const isKnown = endpoints.every((one) => this.#endpoints.keysOf(one))
    const counted = isKnown ? [] : [...(await this.tallies()).keys()]
    const found = Map.groupBy(counted, labelIn)
    return endpoints.flatMap((one) => this.#endpoints.keysOf(one) ?? found.get(`${one.address}:${one.port}`) ?? [])
  }

  async #openAt(keys: readonly string[]): Promise<number> {
    let open = 0
    for (const line of shownCounts(keys)) open += openIn((await this.#ask(line)) ?? '')
    return open
  }

  async #ask(command: string): Promise<string | undefined> {
    return this.#pid() === undefined ? undefined : await askFrontIfAny(this.#files.admin, command)
  }
}
