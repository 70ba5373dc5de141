import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { pack } from 'tar-stream'
import { newId } from '../lib/id.ts'
import { type ArchiveEntry, ArchiveReader } from './archive-reader.ts'
import { attempt, newRelease } from './engine.cases.ts'
import type { VolumeBench } from './engine.volumes.cases.ts'

/** The archive suite for every engine. */
export function archiveCases(name: string, open: () => Promise<VolumeBench>): void {
  describe(`archives of volumes on engine ${name}`, () => {
    let bench: VolumeBench
    before(async () => {
      bench = await open()
    })
    after(() => bench?.close())
    const withVolume = (id = newId()) =>
      newRelease({ ...bench.workload('web'), storage: [{ id, mountPoint: '/data', sizeGiB: 1 }] })
    const owner = () => ({ service: newId(), environment: newId(), sizeGiB: 1 })
    const write = (volume: string, archive: AsyncIterable<Uint8Array>) =>
      bench.engine.writeVolume(volume, owner(), archive, attempt())
    const fill = (volume: string, archive: Buffer) => write(volume, Readable.from([archive]))
    const read = (volume: string) => readArchive(bench.engine, volume)
    const isMissing = (volume: string) =>
      assert.rejects(read(volume), { reason: 'refused', message: /there is no volume/ })

    it('contain the files of a stopped service, and restore them to a new volume', async () => {
      const [source, target] = [newId(), newId()]
      const [one, other] = [withVolume(source), withVolume(target)]
      await bench.engine.start(one, attempt())
      await bench.write(one, 'kept')
      await bench.engine.retire(one.service, undefined, attempt())
      await fill(target, await makeArchive())
      const archive = await read(source)
      assert.equal(
        await bench.engine.writeVolume(target, { ...other, sizeGiB: 1 }, Readable.from([archive]), attempt()),
        archive.length,
      )
      assert.equal(await bench.engine.hasVolume(target, AbortSignal.timeout(60_000)), true)
      assert.deepEqual(await listEntries(await read(target)), await listEntries(archive))
      await bench.engine.start(other, attempt())
      assert.equal(await bench.read(other), 'kept')
      for (const { service } of [one, other]) await bench.engine.erase(service, attempt())
      assert.equal(await bench.engine.hasVolume(target, AbortSignal.timeout(60_000)), false)
      await isMissing(target)
    })

    it('keep owners, modes, links, long names, empty files and the volume’s own directory', async () => {
      const volume = newId()
      const archive = await makeArchive()
      await fill(volume, archive)
      assert.deepEqual(await listEntries(await read(volume)), await listEntries(archive))
      await bench.engine.removeVolume(volume, attempt())
    })

    it('are rejected if they are incomplete or not of a volume, and leave no volume behind', async () => {
      const archive = await makeArchive()
      const foreign = pack()
      foreign.entry({ name: 'etc/passwd' }, 'root')
      foreign.finalize()
      const zeros = archive.indexOf('volume/zeros')
      const cuts = [0, 700, zeros, zeros + 512 + 2048, archive.length - 1].map((end) => archive.subarray(0, end))
      for (const broken of [...cuts, await buffer(foreign)]) {
        const volume = newId()
        await fill(volume, archive)
        await assert.rejects(fill(volume, broken), { name: 'EngineError', reason: 'refused' }, `${broken.length} bytes`)
        await isMissing(volume)
      }
    })

    it('that end with an error leave no volume behind, and the error passes through', async () => {
      const archive = await makeArchive()
      const error = Object.assign(new TypeError('the file is damaged'), { code: 'EIO' })
      // Also with an error after the last byte that an unpacker has to read.
      for (const end of [0, 1000, archive.length]) {
        const volume = newId()
        const damaged = async function* () {
          yield archive.subarray(0, end)
          throw error
        }
        await assert.rejects(write(volume, damaged()), (thrown) => thrown === error)
        await isMissing(volume)
      }
    })

    it('are neither read nor written while the volume is in use', async () => {
      const volume = newId()
      const release = withVolume(volume)
      await bench.engine.start(release, attempt())
      await bench.write(release, 'here')
      const isInUse = { name: 'EngineError', reason: 'refused', message: /in use/ }
      await assert.rejects(read(volume), isInUse)
      await assert.rejects(fill(volume, await makeArchive()), isInUse)
      await assert.rejects(bench.engine.removeVolume(volume, attempt()), isInUse)
      assert.equal(await bench.read(release), 'here')
      await bench.engine.retire(release.service, undefined, attempt())
      const begun = bench.engine.readVolume(
        volume,
        async (archive) => {
          await bench.engine.start(release, attempt())
          await buffer(archive)
        },
        attempt(),
      )
      await assert.rejects(begun, isInUse)
      await bench.engine.erase(release.service, attempt())
    })

    it('can be cancelled by their reader, and are rejected if not read to the end', async () => {
      const volume = newId()
      await fill(volume, await makeArchive())
      const error = new TypeError('no room for it')
      const giveUp = async (archive: AsyncIterable<Uint8Array>) => {
        for await (const _ of archive) throw error
      }
      await assert.rejects(bench.engine.readVolume(volume, giveUp, attempt()), (thrown) => thrown === error)
      await assert.rejects(
        bench.engine.readVolume(volume, async () => {}, attempt()),
        { reason: 'refused' },
      )
      const stop = new AbortController()
      const stopped = bench.engine.readVolume(
        volume,
        async (archive) => {
          stop.abort(error)
          await buffer(archive)
        },
        attempt(stop.signal),
      )
      await assert.rejects(stopped, (thrown) => thrown === error)
      for (let times = 0; times < 2; times++) await bench.engine.removeVolume(volume, attempt())
      await isMissing(volume)
    })
  })
}

export async function readArchive(engine: VolumeBench['engine'], volume: string): Promise<Buffer> {
  let archive = Buffer.alloc(0)
  const take = async (given: AsyncIterable<Uint8Array>) => {
    archive = await buffer(given)
  }
  assert.equal(await engine.readVolume(volume, take, attempt()), archive.length)
  return archive
}

/** Fills a volume with one of each kind of entry. */
async function makeArchive(): Promise<Buffer> {
  const tar = pack()
  const at = { uid: 999, gid: 998 }
  tar.entry({ name: 'volume/', type: 'directory', mode: 0o1770, ...at })
  tar.entry({ name: 'volume/empty', mode: 0o600, ...at }, '')
  tar.entry({ name: 'volume/hard', mode: 0o640, ...at }, 'content')
  tar.entry({ name: 'volume/harder', type: 'link', linkname: 'volume/hard', mode: 0o640, ...at })
  tar.entry({ name: 'volume/private/', type: 'directory', mode: 0o700, ...at })
  tar.entry({ name: `volume/private/${'long '.repeat(30)}ä€`, mode: 0o400, uid: 3_000_000, gid: 0 }, 'content')
  tar.entry({ name: 'volume/program', mode: 0o4755, uid: 0, gid: 0 }, '#!')
  tar.entry({ name: 'volume/soft', type: 'symlink', linkname: '../../etc/passwd', mode: 0o777, ...at })
  tar.entry({ name: 'volume/zeros', mode: 0o644, ...at }, Buffer.alloc(5000))
  tar.finalize()
  return buffer(tar)
}

/** Returns the entries of an archive with their contents, sorted by path. */
async function listEntries(archive: Buffer): Promise<(ArchiveEntry & { content: string })[]> {
  const found: (ArchiveEntry & { content: string })[] = []
  const reader = new ArchiveReader((entry) => {
    let content = ''
    const piece = (bytes: Uint8Array) => {
      content += Buffer.from(bytes).toString('latin1')
    }
    return { piece, end: () => void found.push({ ...entry, content }) }
  })
  await reader.write(archive)
  await reader.end()
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}
