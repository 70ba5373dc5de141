import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeStatus } from './trace.ts'

/** Encodes one field of a message: a number as a varint, anything else with its length first. */
function field(number: number, value: number | string | Buffer): Buffer {
  if (typeof value === 'number') return Buffer.concat([varint(number * 8), varint(value)])
  const bytes = Buffer.from(value)
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128)
  return Buffer.from([...bytes, value])
}

const decode = (...parts: readonly Buffer[]) => decodeStatus(Buffer.concat(parts).toString('base64'))
const time = field(1, 1_795_257_000)

test('decodeStatus reads steps and their log', () => {
  const vertex = [field(1, 'sha256:1'), field(2, 'sha256:0'), field(3, '[1/2] RUN x'), field(5, time)]
  const done = [...vertex, field(4, 1), field(6, time), field(7, 'exit code: 1')]
  const log = [field(1, 'sha256:1'), field(2, time), field(3, 2), field(4, Buffer.from([0xff, 0x0a]))]
  const status = decode(field(1, Buffer.concat(vertex)), field(1, Buffer.concat(done)), field(3, Buffer.concat(log)))
  const started = { digest: 'sha256:1', name: '[1/2] RUN x', started: true, cached: false, completed: false, error: '' }
  assert.deepEqual(status.vertices, [started, { ...started, cached: true, completed: true, error: 'exit code: 1' }])
  assert.deepEqual(status.logs, [{ vertex: 'sha256:1', stream: 2, text: Buffer.from([0xff, 0x0a]) }])
})

test('decodeStatus skips fields of later versions, of any wire type', () => {
  const fixed64 = Buffer.concat([varint(99 * 8 + 1), Buffer.alloc(8)])
  const fixed32 = Buffer.concat([varint(98 * 8 + 5), Buffer.alloc(4)])
  const status = decode(
    fixed64,
    field(97, 'x'),
    field(96, 2 ** 40),
    fixed32,
    field(1, Buffer.concat([fixed32, field(3, 'n')])),
  )
  assert.equal(status.vertices[0]?.name, 'n')
})

test('decodeStatus reads an empty message', () => {
  assert.deepEqual(decodeStatus(''), { vertices: [], logs: [] })
})

test('decodeStatus rejects truncated bytes', () => {
  const whole = field(1, field(3, 'name'))
  for (let length = 1; length < whole.length; length++)
    assert.throws(() => decode(whole.subarray(0, length)), RangeError)
})
