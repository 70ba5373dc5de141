import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { pack } from 'tar-stream'
import { metered } from './archive-meter.ts'

/** Two files; the second contains only zeros. */
async function makeArchive(): Promise<Buffer> {
  const tar = pack()
  tar.entry({ name: 'first' }, 'content')
  tar.entry({ name: 'second' }, Buffer.alloc(5000))
  tar.finalize()
  return buffer(tar)
}
const archive = await makeArchive()

const pass = async (whole: Buffer, pieceBytes: number) => {
  let counted = 0
  const count = (bytes: number): void => {
    counted += bytes
  }
  const pieces: Buffer[] = []
  for (let at = 0; at < whole.length; at += pieceBytes) pieces.push(whole.subarray(at, at + pieceBytes))
  const passed = await buffer(metered(Readable.from(pieces), { count, broken: 'unreachable' }))
  assert.deepEqual(passed, whole)
  return counted
}

test('an archive passes through unchanged and is counted, however it is split', async () => {
  for (const pieceBytes of [1, 511, 1024, archive.length]) {
    assert.equal(await pass(archive, pieceBytes), archive.length)
  }
  const padded = Buffer.concat([archive, Buffer.alloc(7 * 512)])
  assert.equal(await pass(padded, 1000), padded.length)
})

test('an archive that ends early is an error, between two files and inside a file of zeros', async () => {
  for (const end of [0, 100, 512, 700, 1024, 1536, 1536 + 2048, 1536 + 5120, archive.length - 1]) {
    await assert.rejects(
      pass(archive.subarray(0, end), 1000),
      { reason: 'unreachable', message: /archive of a volume is incomplete/ },
      `${end}`,
    )
  }
})

test('data that is not an archive is an error, and so is data after its end', async () => {
  for (const one of [Buffer.alloc(2048, 'text'), Buffer.concat([archive, Buffer.alloc(512, '{}')])]) {
    await assert.rejects(pass(one, 1000), { reason: 'unreachable' })
  }
})
