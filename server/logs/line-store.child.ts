import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { openLineStore } from './line-store.ts'

/**
 * For line-store.crash.test.ts: appends until it is killed, and prints after each flush how many
 * lines are safe.
 */
const [directory = '', begin = '1'] = process.argv.slice(2)
const store = openLineStore({ directory, clock: systemClock, log: silentLogger, segmentBytes: 200_000 })

for (let next = Number(begin); ; ) {
  const lines = Array.from({ length: 500 }, () => ({ text: String(next++), filling: 'x'.repeat(next % 300) }))
  await store.append('service/one', lines)
  void store.append('deployment/two', lines)
  if (next % 3 !== 0) continue
  await store.flush()
  process.stdout.write(`${next - 1}\n`)
}
