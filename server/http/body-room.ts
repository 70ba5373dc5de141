import { totalmem } from 'node:os'
import { AppError } from '../lib/error.ts'
import { createShares, type Shares } from '../lib/shares.ts'

const mebi = 1024 * 1024

/** Below this, a body costs no more than the connection that it comes over. */
export const smallBody = 16 * 1024

/** What one body takes of a room. */
export interface BodyPlace {
  /**
   * The body has so many bytes by now. Throws AppError `unavailable` where the room has none left
   * for them.
   */
  hold(bytes: number): void
  /** Nobody needs the body any more. */
  leave(): void
}

/**
 * Bounds the bytes of all bodies that are held at a time, from the first byte read until the
 * request is answered. They are shared out among those who send them, so that no sender takes all.
 * Small bodies are always let in.
 */
export class BodyRoom {
  readonly #shares: Shares

  constructor(bytes: number) {
    this.#shares = createShares(bytes)
  }

  /** `owner`: who sends the body; see `Budgets.ownerOf`. */
  enter(owner: string): BodyPlace {
    const taken: (() => void)[] = []
    let held = 0
    let hasLeft = false
    return {
      hold: (bytes) => {
        // What was sent before its connection ended may be read after that: nobody would give its
        // bytes back any more.
        if (hasLeft || bytes <= smallBody) return
        const give = this.#shares.take([owner], bytes - held)
        if (!give) {
          throw new AppError(
            'unavailable',
            'Too many large bodies are being sent at a time. Try again in a few seconds.',
          )
        }
        taken.push(give)
        held = bytes
      },
      leave: () => {
        hasLeft = true
        for (const give of taken.splice(0)) give()
      },
    }
  }
}

/** A sixteenth of the memory that this process may use, but `least` and at most `most` bytes. */
export function roomFor({ least, most }: { readonly least: number; readonly most: number }): BodyRoom {
  // 0, or a number beyond all memory, where nothing but the machine is the limit.
  const allowed = Math.min(process.constrainedMemory() || totalmem(), totalmem())
  return new BodyRoom(Math.min(most, Math.max(least, Math.floor(allowed / 16))))
}

/** For bodies of the API. */
export const apiBodies = { least: 32 * mebi, most: 128 * mebi }
/** For messages of git providers, of which one alone may have 25 MiB. */
export const webhookBodies = { least: 64 * mebi, most: 128 * mebi }
