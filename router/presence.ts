import type { Server } from 'node:http'
import { monotonic } from './clock.ts'

/** Knows whether the control plane talks to this router. */
export class Presence {
  readonly #awayMs: number
  #open = 0
  #seenAt = monotonic()

  constructor(control: Server, awayMs: number) {
    this.#awayMs = awayMs
    control.on('request', (_request, response) => {
      this.#open++
      response.once('close', () => {
        this.#open--
        this.#seenAt = monotonic()
      })
    })
  }

  /** Whether no control request is open, and none was for a while. */
  get isAway(): boolean {
    return this.#open === 0 && monotonic() - this.#seenAt >= this.#awayMs
  }
}
