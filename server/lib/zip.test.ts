import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unzip } from './testing-unzip.ts'
import { zip } from './zip.ts'

test('an archive unzips to the files that were zipped', () => {
  const files = { 'main.tf': 'resource "a" "b" {}\n'.repeat(100), 'städte/ünicode.txt': 'ä', empty: '' }
  const archive = zip(files, new Date('2026-11-21T15:00:00Z'))
  assert.deepEqual(unzip(archive), files)
  assert.ok(archive.length < 1000)
})

test('an archive without files is valid', () => {
  assert.deepEqual(unzip(zip({}, new Date())), {})
})

test('file times are in UTC in every time zone, also in hours that the zone skips', (t) => {
  const before = process.env['TZ']
  t.after(() => {
    if (before === undefined) delete process.env['TZ']
    else process.env['TZ'] = before
  })
  const times = {
    '2026-11-21T15:30:58Z': [2026, 11, 21, 15, 30, 58],
    '2026-12-31T23:59:58Z': [2026, 12, 31, 23, 59, 58],
    // New York has no 02:30 on this day.
    '2026-03-08T02:30:00Z': [2026, 3, 8, 2, 30, 0],
    '1970-01-01T00:00:00Z': [1980, 1, 1, 0, 0, 0],
  }
  for (const [at, expected] of Object.entries(times)) {
    const archives = ['UTC', 'America/New_York', 'Asia/Kolkata', 'Pacific/Kiritimati'].map((zone) => {
      process.env['TZ'] = zone
      return zip({ one: '1', 'two/three': '23' }, new Date(at))
    })
    for (const archive of archives) {
      assert.deepEqual(timesOf(archive), [expected, expected, expected, expected], at)
      assert.deepEqual(archive, archives[0])
    }
  }
})

/** Returns the times in all headers of an archive: first of the files, then of the directory. */
function timesOf(archive: Buffer): number[][] {
  const found: number[][] = []
  for (const [mark, place] of [
    [0x04034b50, 10],
    [0x02014b50, 12],
  ] as const) {
    for (let at = 0; at + 46 <= archive.length; at++) {
      if (archive.readUInt32LE(at) !== mark) continue
      const time = archive.readUInt32LE(at + place)
      const [date, clock] = [time >>> 16, time & 0xffff]
      found.push([(date >> 9) + 1980, (date >> 5) & 15, date & 31, clock >> 11, (clock >> 5) & 63, (clock & 31) * 2])
    }
  }
  return found
}
