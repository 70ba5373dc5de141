import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cronWords } from './cron-words.ts'

for (const [cron, words] of [
  ['0 3 * * *', 'Every day at 03:00'],
  ['@daily', 'Every day at 00:00'],
  ['*/5 * * * *', 'Every 5 minutes'],
  ['* * * * *', 'Every minute'],
  ['30 * * * *', 'Every hour at minute 30'],
  ['0 */6 * * *', 'Every 6 hours at minute 0'],
  ['15 22 * * 1-5', 'Every day from Monday to Friday at 22:15'],
  ['0 8 * * 1,4', 'Every Monday, Thursday at 08:00'],
  ['0 0 1 * *', 'On day 1 of each month at 00:00'],
  ['*/10 * * * 0', 'Every Sunday, every 10 minutes'],
  ['0 0 1 1 *', '0 0 1 1 *'],
  ['5-10 4 * * *', '5-10 4 * * *'],
  ['nonsense', 'nonsense'],
] as const)
  test(`"${cron}" is said as "${words}"`, () => assert.equal(cronWords(cron), words))
