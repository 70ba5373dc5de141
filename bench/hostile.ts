import { newId } from '../server/lib/id.ts'
import { masker } from '../server/lib/masker.ts'
import { Secret } from '../server/lib/secret.ts'
import { absolute, atMost, type Benchmark } from './figure.ts'
import { hostileTexts, longestHoldMs } from './hostile-texts.ts'

/** Measures how long text from outside blocks the main thread: the longest block of all readers. */
export const hostile: Benchmark = {
  figures: ['hostile-text'],
  async measure({ say }) {
    const secrets = Array.from({ length: 500 }, () => new Secret(`${newId()}${newId()}`))
    const holds: number[] = []
    for (const { name, read } of hostileTexts(masker(secrets))) {
      const holdMs = await longestHoldMs(read)
      say(`  ${name}: ${holdMs.toFixed(1)} ms`)
      holds.push(holdMs)
    }
    return [absolute('hostile-text', Math.max(...holds), 'ms', atMost(50))]
  },
}
