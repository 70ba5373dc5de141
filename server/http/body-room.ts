import { totalmem } from 'node:os'
import { AppError } from '../lib/error.ts'
import { createShares, type Shares } from '../lib/shares.ts'

const mebi = 1024 * 1024

/** A body up to this size costs no more than its connection. */
export const smallBody = 16 * 1024

/** The bytes that one body holds in a room. */
export interface BodyPlace {
  /** Reports the size of the body so far. Throws AppError `unavailable` if the room is full. */
  hold(bytes: number): void
  /** Releases the bytes of the body. */
  leave(): void
}

/**
 * Bounds the bytes of all request bodies held at the same time, from the first byte until the
 * request is answered. Senders share the bytes, so none of them takes all. Small bodies are always
 * accepted.
 */
export class BodyRoom {
  readonly #shares: Shares

  constructor(bytes: number) {
    this.#shares = createShares(bytes)
  }

  /** Reserves a place. `owner` is the sender of the body; see `Budgets.ownerOf`. */
  enter(owner: string): BodyPlace {
    const taken: (() => void)[] = []
    let held = 0
    let hasLeft = false
    return {
      hold: (bytes) => {
        // Bytes may still be read after the connection ended. Nothing would release them.
        if (hasLeft || bytes <= smallBody) return
        const give = this.#shares.take([owner], bytes - held)
        if (!give) {
          throw new AppError(
            'unavailable',
            'Too many large request bodies at the same time. Try again in a few seconds.',
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

/** Returns a room of a sixteenth of this process's memory, between `least` and `most` bytes. */
export function roomFor({ least, most }: { readonly least: number; readonly most: number }): BodyRoom {
  // Without a memory limit, Node.js reports 0 or a number larger than the machine's memory.
  const allowed = Math.min(process.constrainedMemory() || totalmem(), totalmem())
  return new BodyRoom(Math.min(most, Math.max(least, Math.floor(allowed / 16))))
}

/** Bounds for bodies of the API. */
export const apiBodies = { least: 32 * mebi, most: 128 * mebi }
/** Bounds for webhook messages of git providers. A single one may have 25 MiB. */
export const webhookBodies = { least: 64 * mebi, most: 128 * mebi }
