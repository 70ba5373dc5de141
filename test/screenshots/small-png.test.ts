import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32, deflateSync, inflateSync } from 'node:zlib'
import { smallPng } from './small-png.ts'

const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])

function chunk(type: string, content: Buffer = Buffer.alloc(0)): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(content.length)
  check.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, check])
}

/** Returns a PNG of three channels from its filtered rows. */
const pngOf = (width: number, rows: readonly (readonly number[])[]): Buffer =>
  Buffer.concat([
    signature,
    chunk('IHDR', Buffer.from([0, 0, width >> 8, width & 255, 0, 0, 0, rows.length, 8, 2, 0, 0, 0])),
    chunk('IDAT', deflateSync(Buffer.from(rows.flat()))),
    chunk('IEND'),
  ])

function partOf(png: Buffer, type: string): Buffer {
  const at = png.indexOf(type, 0, 'latin1')
  return png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4))
}

test('smallPng undoes every filter of rows, and gives each colour a number', () => {
  const png = pngOf(2, [
    [0, 10, 20, 30, 40, 50, 60],
    [1, 10, 20, 30, 30, 30, 30],
    [2, 0, 0, 0, 0, 0, 0],
    [3, 5, 10, 15, 15, 15, 15],
    [4, 0, 0, 0, 0, 0, 0],
  ])
  const small = smallPng(png)
  assert.deepEqual([...partOf(small, 'PLTE')], [10, 20, 30, 40, 50, 60])
  const rows = inflateSync(partOf(small, 'IDAT'))
  assert.deepEqual([...rows], [0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1])
})

test('smallPng keeps 256 colours if there are more', () => {
  const row = Array.from({ length: 512 }, (_, index) => [index >> 1, 0, (index & 1) * 255])
  const small = smallPng(
    pngOf(256, [
      [0, ...row.slice(0, 256).flat()],
      [0, ...row.slice(256).flat()],
    ]),
  )
  assert.equal(partOf(small, 'PLTE').length / 3, 256)
})
