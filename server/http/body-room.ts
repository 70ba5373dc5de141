import { totalmem } from 'node:os'
import { AppError } from '../lib/error.ts'

const mebi = 1024 * 1024

/** Below this, a body costs no more than the connection that it comes over. */
export const smallBody = 16 * 1024

/** What one body takes of a room. */
export interface BodyPlace {
  /** The body has so many bytes by now. Throws AppError `unavailable` where the room has none left for them. */
  hold(bytes: number): void
  /** Nobody needs the body any more. */
  leave(): void
}

/**
 * The bytes of all bodies that are held at a time, from the first one read until its request is answered: whoever sends them is not known before
 * they are read, and a connection that stands still keeps what it has sent. Small bodies are let in always.
 */
export class BodyRoom {
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  enter(): BodyPlace {
    let held = 0
    let hasLeft = false
    return {
      hold: (bytes) => {
        // What was sent before its connection ended may be read after that: nobody would give its bytes back any more.
        if (hasLeft || bytes <= smallBody) return
        if (bytes - held > this.#left) {
          throw new AppError(
            'unavailable',
            'Too many large bodies are being sent at a time. Try again in a few seconds.',
          )
        }
        this.#left -= bytes - held
        held = bytes
      },
      leave: () => {
        hasLeft = true
        this.#left += held
        held = 0
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
export const apiBodies = { least: 16 * mebi, most: 64 * mebi }
/** For messages of git providers, of which one alone may have 25 MiB. */
export const webhookBodies = { least: 32 * mebi, most: 100 * mebi }
