import assert from 'node:assert/strict'
import { statfs } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { viewEngine } from '../../../test/support/engine-view.ts'
import { type PrivateEngine, startPrivateEngine, whyNoBtrfsEngine } from '../../../test/support/private-engine.ts'
import { newId } from '../../lib/id.ts'
import { attempt, newRelease } from '../engine.cases.ts'
import { newTask } from '../engine.tasks.cases.ts'
import type { LongRunning, Task } from '../engine.ts'
import { taskName } from './labels.ts'
import { node, openDockerBench } from './test-bench.ts'
import { importTestImage, removeTestImage } from './test-image.ts'

const image = `quayside-engine-test/layers:${newId().slice(-8)}`
const mebibyte = 1024 * 1024
/** 64 MiB. */
const layerGiB = 1 / 16
const limit = () => AbortSignal.timeout(120_000)

/** EDQUOT, which has no name in Node, or ENOSPC. */
const full = /^-(?:122|28)$/m

/**
 * Writes this many MiB to the disk and prints how many fitted. Exits with code 7 if not all did.
 */
const writing = (mebibytes: number): string =>
  'let n=0;try{const ' +
  `out=fs.openSync('/tmp/big','w');for(;n<${mebibytes};n++){fs.writeSync(out,crypto.randomBytes(${mebibyte}));fs.fsyncSync(out)}}catch(e){console.log(e.errno);process.exitCode=7}console.log('wrote '+n)`

/** Behaviour that every engine shares. */
async function open(socketPath: string) {
  await importTestImage(socketPath, image)
  const bench = await openDockerBench({ socketPath, image })
  const service = (): LongRunning => ({ ...bench.workload('portless'), layerGiB })
  const job = (mebibytes: number): Task => {
    const { variables, files, cpuMilli, memoryMiB, aliases, stopGraceSeconds } = service()
    const common = { variables, files, cpuMilli, memoryMiB, aliases, stopGraceSeconds, layerGiB }
    return { ...common, ...node(writing(mebibytes)), shape: 'task', image, timeoutSeconds: 60 }
  }
  const sizeOf = async (container: string) =>
    Number(Object((await bench.inspect(container)).HostConfig).StorageOpt?.size ?? 0)
  return { bench, service, job, sizeOf }
}

describe('writable layers on an engine that cannot limit them', () => {
  const socketPath = '/var/run/docker.sock'
  let opened: Awaited<ReturnType<typeof open>>
  before(async () => {
    opened = await open(socketPath)
  })
  after(async () => {
    await opened?.bench.close()
    await removeTestImage(socketPath, image)
  })

  it('have no limit, and services and runs work as usual', async (t) => {
    const { bench, service, job, sizeOf } = opened
    const { Driver } = Object(await viewEngine(socketPath).ask('GET', '/info'))
    if (Driver === 'btrfs' || Driver === 'zfs') return t.skip(`this engine limits layers: ${Driver}`)
    const release = newRelease(service())
    await bench.engine.start(release, attempt())
    const observed = await bench.engine.observe(release.service, limit())
    const [replica] = observed.state === 'running' ? observed.replicas : []
    assert.equal(await sizeOf(replica?.name ?? ''), 0)
    const task = newTask(job(1))
    const run = newId()
    await bench.engine.prepareTask(task, run, attempt())
    assert.equal(await sizeOf(taskName(run)), 0)
    assert.equal((await bench.engine.runTask(task, run, attempt())).exitCode, 0)
    await bench.engine.endTask(run, attempt())
    await bench.engine.erase(release.service, attempt())
  })
})

describe('writable layers on an engine with btrfs', { skip: (await whyNoBtrfsEngine()) ?? false }, () => {
  let engine: PrivateEngine
  let opened: Awaited<ReturnType<typeof open>>
  before(
    async () => {
      engine = await startPrivateEngine({ btrfsMiB: 1024 })
      opened = await open(engine.socketPath)
    },
    { timeout: 60_000 },
  )
  after(async () => {
    // Containers outlive their engine.
    await opened?.bench.close()
    await engine?.close()
  })

  const free = async () => {
    const { bsize, bavail } = await statfs(engine.dataRoot)
    return bsize * bavail
  }
  const write = async (service: string, mebibytes: number) =>
    (await opened.bench.engine.exec(service, ['node', '-e', writing(mebibytes)], limit())).output

  it('limit what a replica may write, and the next release begins with an empty one', async () => {
    const { bench, service } = opened
    const release = newRelease(service())
    await bench.engine.start(release, attempt())
    const before = await free()
    // The image is larger than the limit, because it does not count.
    assert.match(await write(release.service, 48), /^wrote 48$/m)
    const output = await write(release.service, 300)
    assert.match(output, full)
    const wrote = Number(/^wrote (\d+)$/m.exec(output)?.[1])
    assert.ok(wrote >= 48 && wrote <= 64, output)
    assert.ok(before - (await free()) < 100 * mebibyte, 'the disk is safe')
    assert.equal((await bench.engine.observe(release.service, limit())).state, 'running')
    const next = newRelease(service(), { service: release.service, environment: release.environment })
    await bench.engine.start(next, attempt())
    await bench.engine.retire(next.service, next.id, attempt())
    const listing = await bench.engine.exec(next.service, ['node', '-p', 'fs.readdirSync("/tmp").length'], limit())
    assert.match(listing.output, /^0$/m)
    assert.match(await write(next.service, 48), /^wrote 48$/m)
    await bench.engine.erase(next.service, attempt())
  })

  it('make a run that exceeds the limit fail with its own exit code, and the next run begins with an empty one', async () => {
    const { bench, job } = opened
    const outcomeOf = async (mebibytes: number) => {
      const [task, run] = [newTask(job(mebibytes)), newId()]
      await bench.engine.prepareTask(task, run, attempt())
      const outcome = await bench.engine.runTask(task, run, attempt())
      await bench.engine.endTask(run, attempt())
      return outcome
    }
    assert.equal((await outcomeOf(300)).exitCode, 7)
    assert.equal((await outcomeOf(48)).exitCode, 0)
  })

  it('are limited again after the engine was killed', async () => {
    const { bench, service } = opened
    const release = newRelease(service())
    await bench.engine.start(release, attempt())
    await engine.kill9()
    await engine.start()
    assert.match(await write(release.service, 300), full)
    await bench.engine.erase(release.service, attempt())
  })

  it('do not include volumes, which have no engine limit', async () => {
    const volume = { Name: `test-${newId()}`, DriverOpts: { size: '1G' } }
    await assert.rejects(viewEngine(engine.socketPath).ask('POST', '/volumes/create', volume), /no quota support/)
  })
})
