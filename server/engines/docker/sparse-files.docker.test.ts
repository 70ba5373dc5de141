import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { newId } from '../../lib/id.ts'
import { attempt, newRelease } from '../engine.cases.ts'
import { volumeName } from './labels.ts'
import { type DockerBench, node, openDockerBench, serve } from './test-bench.ts'
import { useTestImage } from './test-image.ts'

const { socketPath, image } = useTestImage()
const limit = (): AbortSignal => AbortSignal.timeout(120_000)
const mebibyte = 1_048_576

describe('sparse files in volumes', () => {
  let bench: DockerBench
  before(async () => {
    bench = await openDockerBench({ socketPath, image })
  })
  after(() => bench?.close())
  const withVolume = () =>
    newRelease({
      ...bench.workload('web'),
      ...node(serve(8080)),
      storage: [{ id: newId(), mountPoint: '/data', sizeGiB: 1 }],
    })
  const volumeOf = ({ workload }: ReturnType<typeof withVolume>): string => workload.storage[0]?.id ?? ''
  const say = async (service: string, expression: string): Promise<string> =>
    (await bench.engine.exec(service, ['node', '-p', expression], limit())).output.trim()
  const started = async (program: string) => {
    const source = withVolume()
    await bench.engine.start(source, attempt())
    assert.equal(await say(source.service, `${program};'done'`), 'done')
    return source
  }
  const copyOf = (
    source: ReturnType<typeof withVolume>,
    to: string,
    owner = { service: newId(), environment: newId() },
  ) =>
    bench.engine.copyVolumes(
      [{ from: volumeOf(source), to, owner, sizeGiB: 1 }],
      { mostStandingSeconds: 100 },
      attempt(),
    )

  /** Grows to the longest file that the file system accepts, at most 8 PiB. */
  const longest = `fs.closeSync(fs.openSync('/data/long','w'));
    const fits=(size)=>{try{fs.truncateSync('/data/long',size);return true}catch{return false}};
    [2**53-4096,2**44-4096,2**41].find(fits)`
  const bombs: readonly (readonly [string, string])[] = [
    [
      'a file three times as long as the volume',
      `fs.closeSync(fs.openSync('/data/a','w'));fs.truncateSync('/data/a',3*2**30)`,
    ],
    ['the longest file of the file system', longest],
    [
      'forty files of 100 MiB',
      `for(let n=0;n<40;n++){fs.closeSync(fs.openSync('/data/'+n,'w'));fs.truncateSync('/data/'+n,100*2**20)}`,
    ],
  ]
  for (const [what, program] of bombs) {
    it(`no copy is made of ${what}, and the service continues`, async () => {
      const source = await started(program)
      const to = newId()
      await assert.rejects(copyOf(source, to), {
        name: 'EngineError',
        reason: 'refused',
        message: /the files of a volume of 1 GiB have .* a copy may take 1\.5 GiB: it fills the holes of sparse files/,
      })
      assert.equal(await bench.exists(`/volumes/${volumeName({ id: to })}`), false)
      assert.equal((await bench.engine.observe(source.service, limit())).state, 'running')
      await bench.engine.erase(source.service, attempt())
    })
  }

  it('a sparse file within the size survives a copy, an archive and a restore, and its links share it', async () => {
    const source = await started(`const f=fs.openSync('/data/disk','w');fs.truncateSync('/data/disk',96*2**20);
      for(const at of [0,4097,50*2**20+7,96*2**20-6])fs.writeSync(f,'pages!',at);
      for(let n=0;n<20;n++)fs.linkSync('/data/disk','/data/link'+n)`)
    const [copied, restored] = [newId(), withVolume()]
    const bytes = await copyOf(source, copied)
    assert.ok(bytes < 97 * mebibyte, `${bytes} bytes`)
    let written = 0
    await bench.engine.readVolume(
      copied,
      async (archive) => {
        written = await bench.engine.writeVolume(
          volumeOf(restored),
          { service: restored.service, environment: restored.environment, sizeGiB: 1 },
          archive,
          attempt(),
        )
      },
      attempt(),
    )
    assert.equal(written, bytes)
    await bench.engine.start(restored, attempt())
    const content = Buffer.alloc(96 * mebibyte)
    for (const at of [0, 4097, 50 * mebibyte + 7, 96 * mebibyte - 6]) content.write('pages!', at)
    const digest = `require('crypto').createHash('sha256').update(fs.readFileSync('/data/disk')).digest('hex')`
    assert.equal(await say(restored.service, digest), createHash('sha256').update(content).digest('hex'))
    const blocks = Number(await say(restored.service, `fs.statSync('/data/disk').blocks*512`))
    assert.ok(blocks <= 97 * mebibyte, `${blocks} bytes on disk`)
    assert.equal(await say(restored.service, `fs.statSync('/data/link19').nlink`), '21')
    for (const { service } of [source, restored]) await bench.engine.erase(service, attempt())
    await bench.engine.removeVolume(copied, attempt())
  })
})
