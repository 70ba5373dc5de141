import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'
import { metered } from './archive-meter.ts'
import { ArchiveReader } from './archive-reader.ts'

async function archiveOf(headers: Partial<Header>, content = ''): Promise<Buffer> {
  const tar = pack()
  tar.entry({ name: 'volume/file', ...headers }, content)
  tar.finalize()
  return buffer(tar)
}

/** Changes the header of the first entry, and its sum. */
function changed(archive: Buffer, at: number, text: string): Buffer {
  const copy = Buffer.from(archive)
  copy.write(text, at)
  copy.write('        ', 148)
  const sum = copy.subarray(0, 512).reduce((all, byte) => all + byte, 0)
  copy.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return copy
}

async function read(archive: Buffer, pieceBytes = archive.length): Promise<void> {
  const reader = new ArchiveReader()
  for (let at = 0; at < archive.length; at += pieceBytes) await reader.write(archive.subarray(at, at + pieceBytes))
  await reader.end()
}

test('an archive that others unpack to another length is an error', async () => {
  const plain = await archiveOf({}, 'content')
  await read(plain)
  const wrong: readonly (readonly [string, Buffer, RegExp])[] = [
    ['a sparse file of pax', await archiveOf({ pax: { 'GNU.sparse.size': '1099511627776' } }, 'a'), /is sparse/],
    ['a sparse file of GNU tar', changed(plain, 156, 'S'), /is sparse or of an unknown kind/],
    ['a link with content', changed(plain, 156, '1'), /of the kind link has content/],
    ['a symbolic link with content', changed(plain, 156, '2'), /of the kind symlink has content/],
    ['a directory with content', changed(plain, 156, '5'), /of the kind directory has content/],
    ['a pipe with content', changed(plain, 156, '6'), /of the kind fifo has content/],
  ]
  for (const [what, archive, message] of wrong)
    await assert.rejects(read(archive), { name: 'BrokenArchive', message }, what)
})

test('a compressed archive is an error, also if it is an archive at the same time', async () => {
  const plain = await archiveOf({}, 'content')
  for (const archive of [
    gzipSync(plain),
    zstdCompressSync(plain),
    changed(plain, 0, 'BZh91AY'),
    changed(plain, 0, '\x57*M\x18'),
  ])
    for (const pieceBytes of [1, 2, archive.length])
      await assert.rejects(read(archive, pieceBytes), { name: 'BrokenArchive', message: /is compressed/ })
})

test('files that are longer in all than a copy may be are an error before their content is read', async () => {
  const header = (await archiveOf({ size: 0 })).subarray(0, 512)
  const sized = (size: number): Buffer => changed(header, 124, `${size.toString(8).padStart(11, '0')}\0`)
  const passed = async (sizes: readonly number[], sizeGiB: number): Promise<number> => {
    let pieces = 0
    async function* archive(): AsyncGenerator<Uint8Array> {
      for (const size of sizes) {
        yield sized(size)
        if (size < 1_048_576) yield Buffer.alloc(Math.ceil(size / 512) * 512)
      }
      yield Buffer.alloc(1024)
    }
    for await (const _ of metered(archive(), { count: () => {}, broken: 'unreachable', sizeGiB })) pieces++
    return pieces
  }
  await assert.rejects(passed([2 ** 32], 2), { reason: 'refused', message: /have 4\.0 GiB or more in all.* 3\.0 GiB/ })
  const many = Array.from({ length: 10 }, () => 200_000)
  assert.equal(await passed(many, 1), 21)
  await assert.rejects(passed(many, 1 / 1024), { reason: 'refused', message: /holes of sparse files/ })
})

test('a header is judged before the piece that contains it is passed on', async () => {
  const sparse = await archiveOf({ pax: { 'GNU.sparse.size': '1099511627776' } }, 'a')
  const plain = await archiveOf({}, 'content')
  const passed: Uint8Array[] = []
  const read = async (archive: Buffer): Promise<void> => {
    async function* once(): AsyncGenerator<Uint8Array> {
      yield archive
    }
    for await (const piece of metered(once(), { count: () => {}, broken: 'refused' })) passed.push(piece)
  }
  await assert.rejects(read(sparse), /is sparse/)
  await assert.rejects(read(Buffer.concat([plain.subarray(0, 1024), sparse])), /is sparse/)
  assert.deepEqual(passed, [])
})
