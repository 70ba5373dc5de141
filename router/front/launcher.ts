import type { ChildProcess } from 'node:child_process'
import type { ServedCertificate } from '../certificates.ts'
import { after } from '../clock.ts'
import { describe } from '../log.ts'
import { Attempts } from './attempts.ts'
import { type LaunchOptions, launch } from './launch.ts'

export interface LauncherOptions extends Omit<LaunchOptions, 'spawned' | 'isOver'> {
  /** Called after each start, whether it succeeded or not. */
  tried(): void
}

/** Starts HAProxy in the background, one at a time. After failures it waits longer and longer. */
export class Launcher {
  readonly #options: LauncherOptions
  readonly #attempts = new Attempts()
  /** Settles once the current start has succeeded or failed. */
  #launching: Promise<void> | undefined
  /** The certificates with which the last start began. */
  #certificates: readonly ServedCertificate[] | undefined
  /** The last process that was started. */
  #child: ChildProcess | undefined
  #isOver = false

  constructor(options: LauncherOptions) {
    this.#options = options
  }

  /** Why HAProxy does not run. Undefined if it does, or has not been started yet. */
  get failure(): string | undefined {
    return this.#attempts.failure
  }

  /** Starts HAProxy with these certificates, unless it starts already or has just failed. */
  begin(certificates: readonly ServedCertificate[]): void {
    if (this.#launching || this.#isOver || !this.#attempts.mayBegin()) return
    const spawned = (child: ChildProcess): void => {
      this.#child = child
      // The end came while its files were written.
      if (this.#isOver) child.kill('SIGKILL')
    }
    this.#certificates = certificates
    this.#launching = launch({ ...this.#options, spawned, isOver: () => this.#isOver }, certificates)
      .then(() => {})
      .catch((error: unknown) => this.#fail(describe(error)))
      .then(() => {
        this.#launching = undefined
        this.#options.tried()
      })
  }

  /** Must be called when HAProxy begins to serve. */
  noteService(): void {
    this.#attempts.begin()
  }

  /** Must be called when a running HAProxy has ended. */
  noteEnd(): void {
    this.#attempts.end()
  }

  /** Starts none any more, and ends one that starts. */
  leave(): void {
    this.#isOver = true
    if (this.#launching) this.#child?.kill('SIGUSR1')
  }

  /** Starts none any more, and sends a signal to the last one. */
  end(signal: 'SIGUSR1' | 'SIGKILL'): void {
    this.#isOver = true
    this.#child?.kill(signal)
  }

  /** Settles once none starts. */
  async settled(): Promise<void> {
    await this.#launching
  }

  /** Waits, for at most `mostMs`, until none starts that has other certificates than these. */
  async settledWithout(certificates: readonly ServedCertificate[] | undefined, mostMs: number): Promise<void> {
    if (certificates === this.#certificates) return
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const cancel = after(mostMs, resolve)
    await Promise.race([this.#launching, late])
    cancel()
  }

  #fail(error: string): void {
    if (this.#isOver) return
    this.#attempts.fail(error)
    this.#options.log.error('HAProxy did not start, and the router serves alone', { error })
  }
}
