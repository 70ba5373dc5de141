import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { pack } from 'tar-stream'
import { silent } from '../../lib/attempt.ts'
import { systemClock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { archiveCases, readArchive } from '../engine.archives.cases.ts'
import { attempt, newRelease } from '../engine.cases.ts'
import { EngineError } from '../engine.ts'
import { type VolumeBench, volumeCases } from '../engine.volumes.cases.ts'
import { createContainer } from './containers.ts'
import { copyHelper, emptyImage } from './copy-helper.ts'
import { DockerDaemon } from './daemon.ts'
import { volumeName } from './labels.ts'
import { type DockerBench, node, openDockerBench, serve } from './test-bench.ts'
import { useTestImage } from './test-image.ts'

const { socketPath, image } = useTestImage()
const limit = (): AbortSignal => AbortSignal.timeout(120_000)

const openVolumeBench = async (): Promise<VolumeBench> => {
  const bench = await openDockerBench({ socketPath, image })
  const { engine } = bench
  const inside = async (service: string, program: string, ...values: readonly string[]) =>
    (await engine.exec(service, ['node', '-p', program, '--', ...values], limit())).output.trimEnd()
  return {
    ...bench,
    write: async ({ service }, text) =>
      void (await inside(service, 'fs.writeFileSync("/data/text", process.argv[1])', text)),
    read: ({ service }) => inside(service, 'fs.readFileSync("/data/text", "utf8")'),
  }
}
volumeCases('docker', openVolumeBench)
archiveCases('docker', openVolumeBench)

describe('copies of volumes of several services', () => {
  let bench: DockerBench
  before(async () => {
    bench = await openDockerBench({ socketPath, image })
  })
  after(() => bench?.close())

  it('are consistent, and the resumer leaves them paused meanwhile', async () => {
    const storage = () => [{ id: newId(), mountPoint: '/data', sizeGiB: 1 }]
    const files =
      `const fs=require('fs'),file=fs.openSync('/data/count','w+');const ` +
      `put=(n)=>fs.writeSync(file,String(n).padStart(9,'0'),0)`
    // The leader sends each number that it stored to the follower, which stores it too.
    const follower = newRelease({
      ...bench.workload('web'),
      ...node(
        `${files};put(0);require('http').createServer((q,s)=>{put(Number(q.url.slice(1)));s.end()}).listen(8080)`,
      ),
      storage: storage(),
    })
    const [endpoint] = await bench.engine.start(follower, attempt())
    const told = `http://${endpoint?.address}:${endpoint?.port}`
    const leading = {
      ...bench.workload('web'),
      ...node(
        `${files};fs.writeFileSync('/data/before',Buffer.alloc(32e6,7));require('http').createServer((q,s)=>s.end()).listen(8080);` +
          `(async()=>{for(let n=1;;n++){put(n);await fetch('${told}/'+n).then((r)=>r.text())}})()`,
      ),
      storage: storage(),
    }
    const leader = newRelease(leading, { environment: follower.environment })
    await bench.engine.start(leader, attempt())
    const read = ['node', '-p', 'Number(fs.readFileSync("/data/count", "utf8"))']
    const countOf = async (service: string) => Number((await bench.engine.exec(service, read, limit())).output)
    const begun = limit()
    while ((await countOf(follower.service)) < 10) begun.throwIfAborted()
    const copies = [leader, follower].map((source) => ({
      from: source.workload.storage[0]?.id ?? '',
      to: newId(),
      owner: { service: newId(), environment: newId() },
      sizeGiB: 1,
    }))
    const resumed: Promise<string[]>[] = []
    const tell = () => void resumed.push(bench.engine.resume(limit()))
    await bench.engine.copyVolumes(copies, { mostStandingSeconds: 60, tell }, attempt())
    assert.ok(resumed.length > 0)
    assert.deepEqual((await Promise.all(resumed)).flat(), [])
    const counts: number[] = []
    for (const { to, owner } of copies) {
      const storage = [{ id: to, mountPoint: '/data', sizeGiB: 1 }]
      const reader = newRelease({ ...bench.workload('web'), storage }, owner)
      await bench.engine.start(reader, attempt())
      counts.push(await countOf(owner.service))
    }
    const [led = 0, followed = 0] = counts
    assert.ok(led >= 10 && (led === followed || led === followed + 1), `${led} ${followed}`)
  })
})

describe('archives of volumes', () => {
  let bench: DockerBench
  before(async () => {
    bench = await openDockerBench({ socketPath, image })
  })
  after(() => bench?.close())
  const owner = () => ({ service: newId(), environment: newId(), sizeGiB: 1 })
  /** A volume with one file of so many bytes. */
  const makeVolume = async (bytes: number) => {
    const volume = newId()
    const tar = pack()
    tar.entry({ name: 'volume/file' }, Buffer.alloc(bytes, 7))
    tar.finalize()
    await bench.engine.writeVolume(volume, owner(), Readable.from([await buffer(tar)]), attempt())
    return volume
  }

  it('report an interrupted connection to their reader, and can be read again', async () => {
    const volume = await makeVolume(32e6)
    const proxy = await bench.proxy()
    let [taken, told]: [number, unknown] = [0, undefined]
    const cutOff = async (archive: AsyncIterable<Uint8Array>) => {
      try {
        for await (const piece of archive) {
          taken += piece.length
          proxy.cut()
        }
      } catch (error) {
        told = error
        throw error
      }
    }
    await assert.rejects(proxy.engine.readVolume(volume, cutOff, attempt()), { reason: 'unreachable' })
    assert.ok(taken < 32e6 && told instanceof EngineError, `${taken} ${told}`)
    await proxy.close()
    assert.ok((await readArchive(bench.engine, volume)).length > 32e6)
    await bench.engine.removeVolume(volume, attempt())
  })

  it('of another installation are neither read, nor written, nor removed', async () => {
    const volume = await makeVolume(1000)
    const other = bench.anotherEngine('other')
    await assert.rejects(readArchive(other, volume), { reason: 'refused', message: /there is no volume/ })
    const archive = Readable.from([await readArchive(bench.engine, volume)])
    const foreign = { reason: 'refused', message: /another installation/ }
    await assert.rejects(other.writeVolume(volume, owner(), archive, attempt()), foreign)
    await other.removeVolume(volume, attempt())
    assert.ok((await readArchive(bench.engine, volume)).length > 1000)
    await bench.engine.removeVolume(volume, attempt())
  })

  it('can be written and removed where a process that was killed has left its helper', async () => {
    const daemon = new DockerDaemon({ socketPath, clock: systemClock })
    const volume = await makeVolume(1000)
    const archive = await readArchive(bench.engine, volume)
    const name = volumeName({ id: volume })
    const helper = { instance: bench.instance, image: emptyImage, of: name, volume: name }
    const leave = () => createContainer(daemon, { ...copyHelper(helper, 'to'), output: silent }, limit())
    const last = owner()
    for (const again of [
      () => bench.engine.writeVolume(volume, last, Readable.from([archive]), attempt()),
      () => bench.engine.erase(last.service, attempt()),
    ]) {
      await leave()
      await again()
    }
    assert.equal(await bench.exists(`/volumes/${name}`), false)
    assert.equal(await bench.exists(`/containers/quay-copy-to-${name}/json`), false)
  })
})

describe('archives that a program writes of its volume', () => {
  let bench: DockerBench
  before(async () => {
    bench = await openDockerBench({ socketPath, image })
  })
  after(() => bench?.close())
  /** Prints a tar archive with one file of four letters. */
  const printing = `
    const head = Buffer.alloc(512)
    const put = (at, text) => head.write(text, at)
    put(0, 'text'); put(100, '0000644\\0'); put(108, '0000000\\0'); put(116, '0000000\\0'); put(124, '00000000004\\0')
    put(136, '00000000000\\0'); put(148, '        '); put(156, '0'); put(257, 'ustar\\0' + '00')
    put(148, head.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, '0') + '\\0 ')
    process.stdout.write(Buffer.concat([head, Buffer.from('told'), Buffer.alloc(508 + 1024)]))`
  /** Prints a sparse file of 1 GiB with four bytes of data, as GNU tar does. */
  const sparse = `
    const block = (name, type, content) => {
      const head = Buffer.alloc(512)
      const put = (at, text) => head.write(text, at)
      put(0, name); put(100, '0000644\\0'); put(108, '0000000\\0'); put(116, '0000000\\0')
      put(124, content.length.toString(8).padStart(11, '0') + '\\0')
      put(136, '00000000000\\0'); put(148, '        '); put(156, type); put(257, 'ustar\\0' + '00')
      put(148, head.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, '0') + '\\0 ')
      return Buffer.concat([head, Buffer.from(content), Buffer.alloc(-content.length & 511)])
    }
    const records = ['size=1073741824', 'numblocks=1', 'map=0,4', 'name=text'].map((record) => {
      const length = record.length + 'xx GNU.sparse.\\n'.length
      return length + ' GNU.sparse.' + record + '\\n'
    })
    const parts = [block('pax', 'x', records.join('')), block('text', '0', 'told'), Buffer.alloc(1024)]
    process.stdout.write(Buffer.concat(parts))`
  const copyWith = async (program: string) => {
    const storage = () => [{ id: newId(), mountPoint: '/data', sizeGiB: 1 }]
    const [source, target] = [storage(), storage()].map((volumes) =>
      newRelease({ ...bench.workload('web'), ...node(serve(8080)), storage: volumes }),
    )
    if (!source || !target) throw new Error('a release was not made')
    await bench.engine.start(source, attempt())
    await bench.engine.exec(source.service, ['node', '-e', 'fs.writeFileSync("/data/text", "kept")'], limit())
    const [from, to] = [source, target].map(({ workload }) => workload.storage[0]?.id ?? '')
    const archive = { service: source.service, command: ['node', '-e', program] }
    const copy = { from: from ?? '', to: to ?? '', owner: target, sizeGiB: 1, archive }
    await bench.engine.copyVolumes([copy], { mostStandingSeconds: 60 }, attempt())
    await bench.engine.start(target, attempt())
    const read = ['node', '-p', 'fs.readFileSync("/data/text", "utf8")']
    const { output } = await bench.engine.exec(target.service, read, limit())
    for (const { service } of [source, target]) await bench.engine.erase(service, attempt())
    return output.trim()
  }

  it('fills the copy with what the program prints', async () => {
    assert.equal(await copyWith(printing), 'told')
  })

  it('copies the volume itself if the program fails or prints no archive', async () => {
    assert.equal(await copyWith(`${printing}; process.exitCode = 3`), 'kept')
    assert.equal(await copyWith('process.stdout.write("no archive")'), 'kept')
  })

  it('copies the volume itself if the program prints a file that unpacking makes longer', async () => {
    assert.equal(await copyWith(sparse), 'kept')
    assert.equal(await copyWith(`process.stdout.write(zlib.gzipSync(Buffer.alloc(4096)))`), 'kept')
  })
})
