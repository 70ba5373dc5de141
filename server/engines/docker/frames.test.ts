import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sinceOf, unixTime } from './container-output.ts'
import { cursorAt, frames, onlyNew, type TimedLine, timedLines } from './frames.ts'

const at = (second: number) => `2026-01-01T00:00:0${second}.000000001Z`

function frame(stream: 1 | 2, text: string | Buffer): Buffer {
  const payload = Buffer.from(text)
  const head = Buffer.alloc(8)
  head[0] = stream
  head.writeUInt32BE(payload.length, 4)
  return Buffer.concat([head, payload])
}

async function* cut(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

async function read(bytes: Buffer, size: number): Promise<unknown[]> {
  const lines: unknown[] = []
  for await (const { at: moment, stream, text } of timedLines(frames(cut(bytes, size))))
    lines.push([moment, stream, text])
  return lines
}

describe('the output of a container', () => {
  it('is the same however the bytes are split', async () => {
    const bytes = Buffer.concat([
      frame(1, `${at(1)} hello world\n`),
      frame(2, `${at(2)} grüße\r\n`),
      frame(1, `${at(3)} \n`),
      frame(1, `${at(4)} no line feed`),
    ])
    const expected = [
      [at(1), 'stdout', 'hello world'],
      [at(2), 'stderr', 'grüße'],
      [at(3), 'stdout', ''],
      [at(4), 'stdout', 'no line feed'],
    ]
    for (const size of [1, 3, 7, 8, 9, 50, bytes.length])
      assert.deepEqual(await read(bytes, size), expected, `cut every ${size}`)
  })

  it('joins the parts of a long line, even if they split a character or the other stream comes between', async () => {
    const long = Buffer.from('ä'.repeat(20))
    const bytes = Buffer.concat([
      frame(1, Buffer.concat([Buffer.from(`${at(1)} `), long.subarray(0, 21)])),
      frame(2, `${at(2)} other\n`),
      frame(1, Buffer.concat([Buffer.from(`${at(3)} `), long.subarray(21), Buffer.from('\n')])),
    ])
    assert.deepEqual(await read(bytes, 16), [
      [at(2), 'stderr', 'other'],
      [at(1), 'stdout', 'ä'.repeat(20)],
    ])
  })

  it('splits a line without an end into pieces', async () => {
    const part = 'x'.repeat(128 * 1024)
    const bytes = Buffer.concat([1, 2, 3].map((second) => frame(1, `${at(second)} ${part}`)))
    const lines = await read(bytes, 4096)
    assert.deepEqual(
      lines.map((line) => String(line).length),
      [256, 128].map((kilo) => kilo * 1024 + `${at(1)},stdout,`.length),
    )
  })

  it('is requested from a time with nanoseconds', () => {
    assert.equal(unixTime('2026-11-21T11:07:47.781925097Z'), '1795259267.781925097')
    assert.equal(unixTime('1970-01-01T00:00:01.5Z'), '1.500000000')
    assert.throws(() => unixTime('yesterday'), RangeError)
  })

  it('contains each line once, although Docker repeats lines and stamps the two streams separately', async () => {
    const line = (stream: 'stdout' | 'stderr', second: number): TimedLine => ({ at: at(second), stream, text: '' })
    async function* told() {
      yield* [line('stdout', 1), line('stdout', 2), line('stdout', 4), line('stderr', 3)]
      yield* [line('stdout', 2), line('stdout', 4), line('stderr', 3), line('stdout', 5)]
    }
    const cursor = cursorAt(at(1))
    const given: string[] = []
    for await (const { at: moment, stream } of onlyNew(told(), cursor)) given.push(`${stream} ${moment}`)
    assert.deepEqual(given, [`stdout ${at(2)}`, `stdout ${at(4)}`, `stderr ${at(3)}`, `stdout ${at(5)}`])
    assert.deepEqual(cursor, { stdout: at(5), stderr: at(3) })
  })

  it('is requested again from the stream that is behind, by at most a second', () => {
    assert.equal(sinceOf(cursorAt()), undefined)
    assert.equal(sinceOf(cursorAt('1970-01-01T00:00:09.100000000Z')), '9.100000000')
    assert.equal(
      sinceOf({ stdout: '1970-01-01T00:00:09.100000000Z', stderr: '1970-01-01T00:00:08.900000000Z' }),
      '8.900000000',
    )
    assert.equal(sinceOf({ stdout: '', stderr: '1970-01-01T00:00:09.100000000Z' }), '8.100000000')
  })
})
