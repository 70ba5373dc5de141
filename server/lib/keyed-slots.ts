import { createSlots, type Slots } from './slots.ts'

/** Lets one piece of work of each key run at a time. */
export interface KeyedSlots {
  /** Waits until nobody has the key; whoever has it gives it back by disposing of it. */
  take(key: string, signal: AbortSignal): Promise<Disposable>
  isTaken(key: string): boolean
}

export function createKeyedSlots(): KeyedSlots {
  const used = new Map<string, { readonly slots: Slots; users: number }>()
  const leave = (key: string): void => {
    const own = used.get(key)
    if (own && --own.users === 0) used.delete(key)
  }
  return {
    isTaken: (key) => used.has(key),
    async take(key, signal) {
      const own = used.get(key) ?? { slots: createSlots(1), users: 0 }
      own.users++
      used.set(key, own)
      try {
        const slot = await own.slots.take(signal)
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
