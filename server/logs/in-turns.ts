import { currentOwner } from '../lib/owner.ts'
import { createSlots } from '../lib/slots.ts'

const turns = createSlots(1)

/**
 * Does one piece of work of at most a millisecond, while no other reader of lines does one. Owners
 * have turns, and the rest of the process has one after each piece. Many readers of long logs then
 * delay each other, and nobody else.
 */
export const inTurn = <T>(work: () => T): Promise<T> =>
  turns.run(
    new AbortController().signal,
    async () => {
      const result = work()
      await new Promise((resolve) => setImmediate(resolve))
      return result
    },
    currentOwner(),
  )
