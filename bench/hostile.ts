import { newId } from '../server/lib/id.ts'
import { masker } from '../server/lib/masker.ts'
import { Secret } from '../server/lib/secret.ts'
import { absolute, atMost, type Benchmark } from './figure.ts'
import { hostileJson } from './hostile-json.ts'
import { hostileTexts } from './hostile-texts.ts'
import { longestHoldMs } from './longest-hold.ts'

const goalMs = 50

/** Measures how long text from outside blocks the main thread: the longest block of all readers. */
export const hostile: Benchmark = {
  figures: ['hostile-text'],
  async measure({ say }) {
    const secrets = Array.from({ length: 500 }, () => new Secret(`${newId()}${newId()}`))
    const holds: number[] = []
    const measure = async (name: string, read: () => unknown, prepare: () => unknown = () => {}): Promise<void> => {
      let holdMs = Infinity
      // Other programs delay this thread too, but not every time.
      for (let turn = 0; turn < 3 && holdMs > goalMs; turn++) {
        prepare()
        holdMs = Math.min(holdMs, await longestHoldMs(read))
      }
      say(`  ${name}: ${holdMs.toFixed(1)} ms`)
      holds.push(holdMs)
    }
    for (const { name, read } of hostileTexts(masker(secrets))) await measure(name, read)
    for (const { name, read, prepare } of hostileJson(secrets)) await measure(name, read, prepare)
    return [absolute('hostile-text', Math.max(...holds), 'ms', atMost(goalMs))]
  },
}
