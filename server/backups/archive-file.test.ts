import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { pack } from 'tar-stream'
import { ArchiveError, type ArchiveFailure } from './archive-error.ts'
import { readArchiveFile, writeArchiveFile } from './archive-file.ts'
import { headerBytes } from './archive-header.ts'
import { manifestOf } from './archive-manifest.ts'

const directory = await mkdtemp(join(tmpdir(), 'quayside-archives-'))
after(() => rm(directory, { recursive: true }))
const at = (name: string): string => join(directory, name)
const key = randomBytes(32)
const sealedChunkBytes = 64 * 1024 + 16

/** An archive with one file that cannot be compressed. */
async function makeArchive(bytes: number): Promise<Buffer> {
  const tar = pack()
  tar.entry({ name: 'volume/file' }, randomBytes(bytes))
  tar.finalize()
  return buffer(tar)
}
const write = (path: string, archive: Buffer, by = key) => writeArchiveFile(path, Readable.from([archive]), by)
const read = (path: string, by = key): Promise<Buffer> => buffer(readArchiveFile(path, by))

/** Six chunks, five of them full. */
const archive = await makeArchive(350_000)
const whole = at('whole.qsb')
const written = await write(whole, archive)
const file = await readFile(whole)

test('a file returns the archive that was written, and its content is unreadable without the key', async () => {
  assert.ok((await read(whole)).equals(archive))
  const manifest = await manifestOf(Readable.from([archive]))
  assert.deepEqual(written, { archiveBytes: archive.length, fileBytes: file.length, manifest })
  assert.equal(file.includes('volume/file'), false)
  assert.equal((await stat(whole)).mode & 0o777, 0o600)
})

test('files are compressed, and archives of all sizes around a chunk survive a round trip', async () => {
  const path = at('sizes.qsb')
  const empty = Buffer.alloc(10 * 1024)
  const { fileBytes } = await write(path, empty)
  assert.ok(fileBytes < 300 && (await read(path)).equals(empty))
  for (let blocks = 120; blocks <= 134; blocks++) {
    const one = await makeArchive(blocks * 512)
    await write(path, one)
    assert.ok((await read(path)).equals(one), `${blocks}`)
  }
})

test('two files of the same archive and key have nothing in common', async () => {
  await write(at('again.qsb'), archive)
  const again = await readFile(at('again.qsb'))
  const blocks = new Set<string>()
  for (const one of [file, again]) {
    for (let begin = headerBytes; begin + 16 <= one.length; begin += 16)
      blocks.add(one.toString('latin1', begin, begin + 16))
  }
  assert.ok(blocks.size >= Math.floor((file.length - headerBytes) / 16) * 2)
})

/** Returns what a tampered file yields before it fails. */
async function failureOf(bytes: Buffer, reason: ArchiveFailure, by = key): Promise<number> {
  const path = at('tampered.qsb')
  await writeFile(path, bytes)
  const given: Buffer[] = []
  const reading = async () => {
    for await (const piece of readArchiveFile(path, by)) given.push(Buffer.from(piece))
  }
  await assert.rejects(reading(), (error) => error instanceof ArchiveError && error.reason === reason)
  const before = Buffer.concat(given)
  assert.ok(before.equals(archive.subarray(0, before.length)), 'something was given that was not written')
  return before.length
}

const check = (property: fc.IAsyncProperty<unknown>): Promise<void> => fc.assert(property, { numRuns: 60 })
const position = fc.nat(file.length - 1)

test('a file that is cut anywhere is damaged', async () => {
  for (const end of [0, 1, headerBytes - 1, headerBytes, headerBytes + sealedChunkBytes, file.length - 1])
    await failureOf(file.subarray(0, end), 'damaged')
  await check(fc.asyncProperty(position, (end) => failureOf(file.subarray(0, end), 'damaged').then(() => {})))
})

test('a file with any byte changed is damaged, and returns nothing of the chunk of that byte', async () => {
  const flip = async (index: number, by: number): Promise<void> => {
    const changed = Buffer.from(file)
    changed[index] = (changed[index] ?? 0) ^ by
    const given = await failureOf(changed, 'damaged')
    // Incompressible content is about as large in the file.
    assert.ok(given <= Math.max(0, index), `${given} bytes were given before that at ${index}`)
  }
  for (let index = 0; index < headerBytes; index++) await flip(index, 1)
  await check(fc.asyncProperty(position, fc.integer({ min: 1, max: 255 }), flip))
})

const chunks = Array.from({ length: Math.ceil((file.length - headerBytes) / sealedChunkBytes) }, (_, index) =>
  file.subarray(headerBytes + index * sealedChunkBytes, headerBytes + (index + 1) * sealedChunkBytes),
)
const joined = (parts: readonly (Buffer | undefined)[]): Buffer =>
  Buffer.concat([file.subarray(0, headerBytes), ...parts.map((part) => part ?? Buffer.alloc(0))])

test('a file whose chunks are swapped, left out, repeated, or another file’s is damaged', async () => {
  assert.equal(chunks.length, 6)
  const other = at('other.qsb')
  await write(other, await makeArchive(350_000))
  const foreign = await readFile(other)
  for (const [one, chunk] of chunks.entries()) {
    for (const two of chunks.keys()) {
      if (two <= one) continue
      await failureOf(joined(chunks.with(one, chunks[two] ?? chunk).with(two, chunk)), 'damaged')
    }
    await failureOf(joined(chunks.toSpliced(one, 1)), 'damaged')
    await failureOf(joined(chunks.toSpliced(one, 0, chunk)), 'damaged')
    const begin = headerBytes + one * sealedChunkBytes
    await failureOf(joined(chunks.with(one, foreign.subarray(begin, begin + chunk.length))), 'damaged')
  }
  await failureOf(Buffer.concat([file, Buffer.alloc(1)]), 'damaged')
  await failureOf(Buffer.concat([foreign.subarray(0, headerBytes), ...chunks]), 'damaged')
})

test('another key opens nothing, and is distinguished from damage', async () => {
  const another = fc.uint8Array({ minLength: 32, maxLength: 32 }).filter((bytes) => !key.equals(bytes))
  const tried = fc.asyncProperty(another, async (bytes) => {
    assert.equal(await failureOf(file, 'other-key', Buffer.from(bytes)), 0)
  })
  await check(tried)
  await assert.rejects(read(whole, randomBytes(31)), RangeError)
})

test('a file that does not exist is reported as missing', async () => {
  await assert.rejects(read(at('nowhere.qsb')), { name: 'ArchiveError', reason: 'missing', message: /nowhere\.qsb/ })
})

test('an archive that breaks off or fails creates no file and keeps the previous one', async () => {
  const place = at('failing')
  const path = join(place, 'deep', 'one.qsb')
  const error = new TypeError('the engine went away')
  const failing = async function* () {
    yield archive.subarray(0, 100_000)
    throw error
  }
  const fail = async () => {
    await assert.rejects(write(path, archive.subarray(0, 200_000)), { name: 'ArchiveError', reason: 'damaged' })
    await assert.rejects(write(path, archive.subarray(0, archive.length - 1024)), { reason: 'damaged' })
    await assert.rejects(writeArchiveFile(path, failing(), key), (thrown) => thrown === error)
  }
  await fail()
  assert.deepEqual(await readdir(join(place, 'deep')), [])
  await write(path, archive)
  await fail()
  assert.ok((await read(path)).equals(archive))
  assert.deepEqual(await readdir(join(place, 'deep')), ['one.qsb'])
  assert.equal((await stat(place)).mode & 0o777, 0o700)
})

test('the next writer removes the leftovers of a killed writer', async () => {
  const place = at('left')
  const path = join(place, 'one.qsb')
  await write(path, archive)
  for (const name of ['one.qsb.0190.new', 'other.qsb.0190.new']) await writeFile(join(place, name), 'half')
  await write(path, archive)
  assert.deepEqual((await readdir(place)).sort(), ['one.qsb', 'other.qsb.0190.new'])
})

test('a reader that stops early leaves no file open', async () => {
  const isOpen = async (): Promise<boolean> => {
    const handles = await readdir('/proc/self/fd')
    const paths = await Promise.all(handles.map((handle) => readlink(`/proc/self/fd/${handle}`).catch(() => '')))
    return paths.includes(whole)
  }
  for await (const _ of readArchiveFile(whole, key)) {
    assert.equal(await isOpen(), true)
    break
  }
  assert.equal(await isOpen(), false)
})

test('an archive of 64 MiB is written and read with a few MiB in memory', async () => {
  setFlagsFromString('--expose-gc')
  const gc: () => void = runInNewContext('gc')
  // Memory that the first pass frees is returned at the second.
  const collect = (): void => {
    gc()
    gc()
  }
  const [pieces, pieceBytes] = [1024, 64 * 1024]
  const tar = pack()
  const filling = (async () => {
    const entry = tar.entry({ name: 'volume/large', size: pieces * pieceBytes })
    for (let number = 0; number < pieces; number++) {
      // Incompressible, so the file is as large.
      const isTaken = entry.write(randomBytes(pieceBytes))
      if (!isTaken) await new Promise<void>((resolve) => void entry.once('drain', resolve))
    }
    entry.end(null)
    tar.finalize()
  })()
  let [most, seen] = [0, 0]
  collect()
  const before = process.memoryUsage().arrayBuffers
  const watched = async function* (source: AsyncIterable<unknown>, hash = createHash('sha256')) {
    for await (const one of source) {
      if (!(one instanceof Uint8Array)) continue
      hash.update(one)
      if (++seen % 300 === 0) {
        collect()
        most = Math.max(most, process.memoryUsage().arrayBuffers - before)
      }
      yield one
    }
  }
  const path = at('large.qsb')
  const [given, taken] = [createHash('sha256'), createHash('sha256')]
  const { archiveBytes, fileBytes } = await writeArchiveFile(path, watched(tar, given), key)
  await filling
  for await (const _ of watched(readArchiveFile(path, key), taken));
  assert.equal(taken.digest('hex'), given.digest('hex'))
  assert.ok(archiveBytes > pieces * pieceBytes && fileBytes > archiveBytes && seen >= 2 * pieces)
  assert.ok(most < 4 * 1_048_576, `${most} bytes were held`)
})
