import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Header, pack } from 'tar-stream'
import { manifestOf } from './archive-manifest.ts'

type Entry = Partial<Header> & { readonly name: string; readonly content?: string }

async function makeArchive(entries: readonly Entry[]): Promise<Buffer> {
  const tar = pack()
  for (const { content = '', ...header } of entries) tar.entry(header, content)
  tar.finalize()
  return buffer(tar)
}
const manifest = async (entries: readonly Entry[]) => manifestOf(Readable.from([await makeArchive(entries)]))

const files: readonly Entry[] = [
  { name: 'volume/', type: 'directory', mode: 0o700, uid: 999 },
  { name: 'volume/a', content: 'one', mode: 0o600, uid: 999 },
  { name: 'volume/b', content: 'two', mode: 0o600, uid: 999 },
  { name: 'volume/link', type: 'symlink', linkname: 'a' },
  { name: 'volume/same', type: 'link', linkname: 'volume/a' },
]

test('the same files have the same manifest in any order, with any times and in any pieces', async () => {
  const expected = await manifest(files)
  assert.equal(expected.entries, 5)
  assert.match(expected.digest, /^[0-9a-f]{64}$/)
  const orders = fc.shuffledSubarray([...files], { minLength: files.length })
  const same = fc.asyncProperty(
    orders,
    fc.nat(2_000_000_000),
    fc.integer({ min: 1, max: 3000 }),
    async (order, time, size) => {
      const archive = await makeArchive(order.map((entry) => ({ ...entry, mtime: new Date(time * 1000) })))
      const pieces = async function* () {
        for (let at = 0; at < archive.length; at += size) yield archive.subarray(at, at + size)
      }
      assert.deepEqual(await manifestOf(pieces()), expected)
    },
  )
  await fc.assert(same, { numRuns: 40 })
})

test('a manifest changes when a path, kind, size, mode, owner, content or target changes', async () => {
  const [top, a, b, link, same] = files
  assert.ok(top && a && b && link && same)
  const others: readonly (readonly Entry[])[] = [
    [top, a, b, link],
    [top, a, b, link, same, { name: 'volume/c' }],
    [top, { ...a, name: 'volume/A' }, b, link, same],
    [top, { ...a, content: 'two' }, { ...b, content: 'one' }, link, same],
    [top, { ...a, content: 'onE' }, b, link, same],
    [top, { ...a, content: 'one ' }, b, link, same],
    [top, { ...a, mode: 0o4600 }, b, link, same],
    [top, { ...a, uid: 998 }, b, link, same],
    [top, { ...a, gid: 1 }, b, link, same],
    [{ ...top, mode: 0o755 }, a, b, link, same],
    [top, a, b, { ...link, linkname: 'b' }, same],
    [top, a, b, { ...link, type: 'link' }, same],
    [top, a, b, { name: 'volume/link', content: 'a' }, same],
    [top, a, a, link, same],
  ]
  const digests = await Promise.all([files, ...others].map(async (entries) => (await manifest(entries)).digest))
  assert.equal(new Set(digests).size, others.length + 1)
})

test('an incomplete archive has no manifest, and an error of its source is thrown unchanged', async () => {
  const archive = await makeArchive(files)
  for (const end of [0, 512, 700, 1536, archive.length - 1]) {
    const cut = Readable.from([archive.subarray(0, end)])
    await assert.rejects(manifestOf(cut), { name: 'ArchiveError', reason: 'damaged' }, `${end}`)
  }
  const error = new TypeError('gone')
  const failing = async function* () {
    yield archive.subarray(0, 600)
    throw error
  }
  await assert.rejects(manifestOf(failing()), (thrown) => thrown === error)
})
