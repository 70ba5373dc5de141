import { createSlots, type SlotLimits, type Slots } from './slots.ts'

/** Slots for each key that is in use. Unused keys take no memory. */
export interface KeyedSlots {
  /** Waits for a slot of the key. The holder returns it by disposing of it. `owner`: see Slots. */
  take(key: string, signal: AbortSignal, owner?: string): Promise<Disposable>
  isTaken(key: string): boolean
}

/** Creates slots, by default one for each key. */
export function createKeyedSlots(count = 1, limits: SlotLimits = {}): KeyedSlots {
  const used = new Map<string, { readonly slots: Slots; users: number }>()
  const leave = (key: string): void => {
    const own = used.get(key)
    if (own && --own.users === 0) used.delete(key)
  }
  return {
    isTaken: (key) => used.has(key),
    async take(key, signal, owner) {
      const own = used.get(key) ?? { slots: createSlots(count, limits), users: 0 }
      own.users++
      used.set(key, own)
      try {
        const slot = await own.slots.take(signal, owner)
        let isHeld = true
        return {
          [Symbol.dispose]: () => {
            if (!isHeld) return
            isHeld = false
            slot[Symbol.dispose]()
            leave(key)
          },
        }
      } catch (error) {
        leave(key)
        throw error
      }
    },
  }
}
