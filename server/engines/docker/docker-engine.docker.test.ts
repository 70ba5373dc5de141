import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, afterEach, before, describe, it } from 'node:test'
import { pack } from 'tar-stream'
import { until } from '../../../test/support/until.ts'
import { silent } from '../../lib/attempt.ts'
import { systemClock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { Secret } from '../../lib/secret.ts'
import { archiveCases, readArchive } from '../engine.archives.cases.ts'
import { attempt, engineCases, newRelease } from '../engine.cases.ts'
import { type DiskBench, diskCases, type Written } from '../engine.disk.cases.ts'
import { publishingCases } from '../engine.publishing.cases.ts'
import { shellCases } from '../engine.shell.cases.ts'
import { newTask, outputFile, taskCases } from '../engine.tasks.cases.ts'
import { EngineError, type Release } from '../engine.ts'
import { usageCases } from '../engine.usage.cases.ts'
import { type VolumeBench, volumeCases } from '../engine.volumes.cases.ts'
import { hostConfig } from './container-spec.ts'
import { createContainer } from './containers.ts'
import { copyHelper, emptyImage } from './copy-helper.ts'
import { DockerDaemon } from './daemon.ts'
import { containerName, networkName, volumeName } from './labels.ts'
import { type DockerBench, node, openDockerBench, serve } from './test-bench.ts'
import { importTestImage, removeTestImage } from './test-image.ts'
import { openTaskBench } from './test-task-bench.ts'

const socketPath = '/var/run/docker.sock'
const image = `quayside-engine-test/node:${newId().slice(-8)}`
/** The most that the API takes for a value. */
const maxValueBytes = 128_000
const limit = (): AbortSignal => AbortSignal.timeout(120_000)

before(() => importTestImage(socketPath, image))
after(() => removeTestImage(socketPath, image))

engineCases('docker', () => openDockerBench({ socketPath, image }))
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
const writing = (directory: string, { bytes, files }: Written): string => `
  fs.mkdirSync('${directory}', { recursive: true });
  fs.writeFileSync('${directory}/large', Buffer.alloc(${bytes}, 7));
  for (let i = 0; i < ${files}; i++) fs.writeFileSync('${directory}/' + i, '')`
async function openDiskBench(): Promise<DiskBench> {
  const { anotherEngine, ...bench } = await openDockerBench({ socketPath, image })
  const { task } = await openTaskBench({ socketPath, image })
  return {
    ...bench,
    another: anotherEngine('other'),
    write: async ({ service }, place, written) => {
      const program = writing(place === 'volume' ? '/data' : '/srv', written)
      const { exitCode, output } = await bench.engine.exec(service, ['node', '-e', program], limit())
      assert.equal(exitCode, 0, output)
    },
    writer: (written) => ({ ...task('works'), ...node(writing('/srv', written)) }),
    hasRun: () => {},
  }
}
diskCases('docker', openDiskBench)
shellCases('docker', async () => {
  const size = `const size=()=>console.log('size '+process.stdout.columns+'x'+process.stdout.rows)`
  const answer = `(line)=>line==='exit'?process.exit(0):console.log('said '+line)`
  const source = `${size};setTimeout(size,200);process.stdout.on('resize',size);require('readline').createInterface({input:process.stdin}).on('line',${answer})`
  const echo = `process.stdin.on('data',(chunk)=>process.stdout.write(chunk)).on('end',()=>{process.exitCode=3})`
  return {
    ...(await openDockerBench({ socketPath, image })),
    terminalCommand: ['node', '-e', source],
    echoCommand: ['node', '-e', echo],
  }
})
usageCases('docker', async () => {
  const bench = await openDockerBench({ socketPath, image })
  const spin = `${serve(8080)};(function spin(){const end=Date.now()+50;while(Date.now()<end);setImmediate(spin)})()`
  return { ...bench, busy: () => ({ ...bench.workload('web'), cpuMilli: 300, ...node(spin) }), load: () => {} }
})
publishingCases('docker', async () => ({
  ...(await openDockerBench({ socketPath, image })),
  freePort: async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const bound = server.address()
    server.close()
    await once(server, 'close')
    return typeof bound === 'object' && bound ? bound.port : 0
  },
}))

taskCases('docker', () => openTaskBench({ socketPath, image }))

describe('variables', () => {
  let bench: DockerBench
  before(async () => {
    bench = await openDockerBench({ socketPath, image })
  })
  after(() => bench?.close())

  it('arrive byte by byte, as long as they may be', async () => {
    const value = `${'€'.repeat(maxValueBytes / 4)}\n${'x'.repeat(maxValueBytes / 4 - 1)}`
    assert.equal(Buffer.byteLength(value), maxValueBytes)
    const release = newRelease({ ...bench.workload('web'), variables: { LONG: value, HIDDEN: new Secret(value) } })
    await bench.engine.start(release, attempt())
    const own = `fs.readFileSync('/proc/1/environ', 'utf8').split('\\0').filter((line) => /^(LONG|HIDDEN)=/.test(line))`
    const program =
      `JSON.stringify(${own}.sort().map((line) => ` +
      `require('crypto').createHash('sha256').update(line).digest('hex')))`
    const { output } = await bench.engine.exec(release.service, ['node', '-p', program], limit())
    const hash = (text: string) => createHash('sha256').update(text).digest('hex')
    assert.deepEqual(JSON.parse(output), [hash(`HIDDEN=${value}`), hash(`LONG=${value}`)])
    await bench.engine.erase(release.service, attempt())
  })
})

describe('a read-only root filesystem', () => {
  let bench: DockerBench
  before(async () => {
    bench = await openDockerBench({ socketPath, image })
  })
  after(() => bench?.close())
  const writes = (path: string) => ['node', '-e', `fs.writeFileSync(${JSON.stringify(path)}, 'x')`]

  it('can be written to by nobody, while storage can and mounted files are there', async () => {
    const release = newRelease({
      ...bench.workload('web'),
      hasReadOnlyRoot: true,
      storage: [{ id: newId(), mountPoint: '/data', sizeGiB: 1 }],
      files: [
        { path: '/etc/app/deep/one', content: 'first' },
        { path: '/data/two', content: new Secret('second') },
      ],
    })
    await bench.engine.start(release, attempt())
    const run = (command: readonly string[]) => bench.engine.exec(release.service, command, limit())
    for (const path of ['/x', '/tmp/x', '/usr/x']) {
      const { exitCode, output } = await run(writes(path))
      assert.notEqual(exitCode, 0, path)
      assert.match(output, /EROFS|ENOENT/, path)
    }
    assert.equal((await run(writes('/data/x'))).exitCode, 0)
    assert.equal((await run(bench.commands.printFile('/etc/app/deep/one'))).output, 'first')
    assert.equal((await run(bench.commands.printFile('/data/two'))).output, 'second')
    await bench.engine.erase(release.service, attempt())
  })

  it('leaves a job its output file', async () => {
    const tasks = await openTaskBench({ socketPath, image })
    const release = newTask({ ...tasks.task('writes'), outputFile, hasReadOnlyRoot: true })
    const run = newId()
    await tasks.engine.prepareTask(release, run, attempt())
    const outcome = await tasks.engine.runTask(release, run, attempt())
    await tasks.engine.endTask(run, attempt())
    await tasks.close()
    assert.equal(outcome.exitCode, 0, outcome.lastLines.join())
    assert.ok(outcome.output)
  })
})

describe('lifecycle commands', () => {
  let bench: DockerBench
  before(async () => {
    bench = await openDockerBench({ socketPath, image })
  })
  after(() => bench?.close())
  const storage = () => [{ id: newId(), mountPoint: '/data', sizeGiB: 1 }]
  const note = (text: string) => ['node', '-e', `fs.appendFileSync('/data/notes', ${JSON.stringify(text)})`]
  const notes = async (service: string) =>
    (await bench.engine.exec(service, bench.commands.printFile('/data/notes'), limit())).output

  it('run after each start of a replica, also after one that Docker has restarted', async () => {
    const release = newRelease({ ...bench.workload('web'), storage: storage(), postStart: note('started ') })
    const [endpoint] = await bench.engine.start(release, attempt())
    assert.equal(await notes(release.service), 'started ')
    assert.deepEqual(await bench.engine.followRestarts(limit()), [])
    assert.equal(await notes(release.service), 'started ')
    const { State } = await bench.inspect(endpoint?.replica ?? '')
    process.kill(State.Pid, 'SIGKILL')
    await until('it runs the command again', async () => {
      await bench.engine.followRestarts(limit())
      return (await notes(release.service).catch(() => '')) === 'started started '
    })
    await bench.engine.followRestarts(limit())
    // Another process does not know of earlier starts: it repeats the command of a restarted
    // replica, once.
    const other = bench.anotherEngine()
    await other.followRestarts(limit())
    await other.followRestarts(limit())
    assert.equal(await notes(release.service), 'started started started ')
    await bench.engine.erase(release.service, attempt())
  })

  it('fail the start of a release with what the command printed, its secrets masked', async () => {
    const postStart = ['node', '-e', 'console.log("no " + process.env.PASSWORD); process.exitCode = 4']
    const variables = { PASSWORD: new Secret('correct horse') }
    const release = newRelease({ ...bench.workload('web'), variables, postStart })
    await assert.rejects(bench.engine.start(release, attempt()), (error) => {
      assert.ok(error instanceof EngineError)
      assert.match(error.message, /post-start command ended with exit code 4/)
      assert.equal(error.lastLines.length, 1)
      assert.ok(!error.lastLines.join().includes('correct horse'), error.lastLines.join())
      return true
    })
    assert.equal((await bench.engine.observe(release.service, limit())).state, 'absent')
  })

  it('run before a replica ends, and what they take of the grace time is gone', async () => {
    const kept = storage()
    const first = newRelease({ ...bench.workload('web'), storage: kept, preStop: note('ending ') })
    await bench.engine.start(first, attempt())
    await bench.engine.retire(first.service, undefined, attempt())
    const second = newRelease(
      {
        ...bench.workload('web'),
        storage: kept,
        stopGraceSeconds: 3,
        preStop: ['node', '-e', 'setTimeout(() => {}, 600000)'],
      },
      { service: first.service },
    )
    await bench.engine.start(second, attempt())
    assert.equal(await notes(first.service), 'ending ')
    const begun = performance.now()
    await bench.engine.retire(first.service, undefined, attempt())
    const tookMs = performance.now() - begun
    assert.ok(tookMs > 2_500 && tookMs < 30_000, `${tookMs} ms`)
    await bench.engine.erase(first.service, attempt())
  })
})

describe('copies of volumes of several services', () => {
  let bench: DockerBench
  before(async () => {
    bench = await openDockerBench({ socketPath, image })
  })
  after(() => bench?.close())

  it('are of one moment, and who lets standing things go on leaves them alone', async () => {
    const storage = () => [{ id: newId(), mountPoint: '/data', sizeGiB: 1 }]
    const files =
      `const fs=require('fs'),file=fs.openSync('/data/count','w+');const ` +
      `put=(n)=>fs.writeSync(file,String(n).padStart(9,'0'),0)`
    // The follower has in its volume what the leader told it; the leader tells what it has in its
    // own.
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
  const owner = () => ({ service: newId(), environment: newId() })
  /** A volume with one file of so many bytes. */
  const makeVolume = async (bytes: number) => {
    const volume = newId()
    const tar = pack()
    tar.entry({ name: 'volume/file' }, Buffer.alloc(bytes, 7))
    tar.finalize()
    await bench.engine.writeVolume(volume, owner(), Readable.from([await buffer(tar)]), attempt())
    return volume
  }

  it('whose line breaks are an error for whoever takes them, and can be read again', async () => {
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

describe('archives that a program gives of its volume', () => {
  let bench: DockerBench
  before(async () => {
    bench = await openDockerBench({ socketPath, image })
  })
  after(() => bench?.close())
  /** Prints an archive of tar with one file of four letters. */
  const printing = `
    const head = Buffer.alloc(512)
    const put = (at, text) => head.write(text, at)
    put(0, 'text'); put(100, '0000644\\0'); put(108, '0000000\\0'); put(116, '0000000\\0'); put(124, '00000000004\\0')
    put(136, '00000000000\\0'); put(148, '        '); put(156, '0'); put(257, 'ustar\\0' + '00')
    put(148, head.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, '0') + '\\0 ')
    process.stdout.write(Buffer.concat([head, Buffer.from('told'), Buffer.alloc(508 + 1024)]))`
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
    const copy = { from: from ?? '', to: to ?? '', owner: target, archive }
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

  it('copies the volume itself where the program fails or breaks off', async () => {
    assert.equal(await copyWith(`${printing}; process.exitCode = 3`), 'kept')
    assert.equal(await copyWith('process.stdout.write("no archive")'), 'kept')
  })
})

describe('the Docker engine', () => {
  let bench: DockerBench
  before(async () => {
    bench = await openDockerBench({ socketPath, image })
  })
  after(() => bench?.close())
  afterEach(() => bench.reset())
  const release = (source: string, more = {}) => newRelease({ ...bench.workload('web'), ...node(source), ...more })
  /**
   * Given a second, and longer where the machine is so busy that the program has not come as far as
   * the message by then.
   */
  const assertNotReady = async (one: Release, message: RegExp) => {
    for (const startDeadlineSeconds of [1, 5]) {
      const workload = { ...one.workload, startDeadlineSeconds }
      const error = await bench.engine.start({ ...one, workload }, attempt()).catch((thrown: unknown) => thrown)
      if (error instanceof EngineError && error.reason === 'not-ready' && message.test(error.message)) return
    }
    const workload = { ...one.workload, startDeadlineSeconds: 25 }
    await assert.rejects(bench.engine.start({ ...one, workload }, attempt()), { reason: 'not-ready', message })
  }

  it('puts no more than the allowed members into the container, whatever the workload says', async () => {
    const source = serve(8080)
    const hostile = release(source, {
      arguments: [source, '--', '--privileged', ';id', '$HOME'],
      storage: [{ id: newId(), mountPoint: '/data', sizeGiB: 1 }],
    })
    await bench.engine.start(hostile, attempt())
    const { HostConfig, Config, Mounts } = await bench.inspect(containerName(hostile, 1))
    assert.deepEqual(Config.Cmd, [source, '--', '--privileged', ';id', '$HOME'])
    const asked = hostConfig(hostile, true)
    // The daemon adds what it derives from a mount; the mount as it came about is looked at below.
    assert.deepEqual({ ...HostConfig, Mounts: asked.Mounts }, { ...(await bench.defaultHostConfig()), ...asked })
    assert.deepEqual(
      Mounts.map(({ Type, Driver, Destination }) => [Type, Driver, Destination]),
      [['volume', 'local', '/data']],
    )
  })

  it('enforces the limits and takes privileges away', async () => {
    const one = release(serve(8080))
    await bench.engine.start(one, attempt())
    const read = async (path: string) =>
      (await bench.engine.exec(one.service, ['node', '-p', `fs.readFileSync(${JSON.stringify(path)},'utf8')`], limit()))
        .output
    const status = await read('/proc/self/status')
    assert.match(status, /NoNewPrivs:\s+1/)
    assert.match(status, /Seccomp:\s+2/)
    // CHOWN 0, DAC_OVERRIDE 1, FOWNER 3, KILL 5, SETGID 6, SETUID 7, NET_BIND_SERVICE 10.
    assert.match(status, /CapBnd:\s+00000000000004eb/)
    // Control groups of version 2, then of version 1.
    const firstOf = `for(const p of process.argv.slice(1))try{console.log(fs.readFileSync('/sys/fs/cgroup/'+p,'utf8').trim());break}catch{}`
    const limitOf = async (...files: string[]) =>
      (await bench.engine.exec(one.service, ['node', '-e', firstOf, ...files], limit())).output.trim()
    assert.equal(await limitOf('memory.max', 'memory/memory.limit_in_bytes'), String(128 * 1024 * 1024))
    assert.match(await limitOf('cpu.max', 'cpu/cpu.cfs_quota_us', 'cpu,cpuacct/cpu.cfs_quota_us'), /^50000\b/)
    assert.equal(await limitOf('pids.max', 'pids/pids.max'), '512')
  })

  it('is seen healthy soon after its port opens, however long the initial delay', async () => {
    const probe = {
      initialDelaySeconds: 30,
      periodSeconds: 10,
      timeoutSeconds: 5,
      successThreshold: 1,
      failureThreshold: 9,
    }
    const check = { type: 'http', path: '/health', scheme: 'HTTP', port: 8080 } as const
    const one = release(serve(8080, { status: 302, afterMs: 300 }), { probes: { readiness: { check, ...probe } } })
    await bench.engine.start(one, attempt())
    const now = systemClock.now().getTime()
    const [line] = await bench.lines(one.service)
    assert.ok(now - Date.parse(line?.at ?? '') < 8_000, `open at ${line?.at}, seen ${now}`)
  })

  it('ends a command whose terminal is closed, also one that does not mind', async () => {
    const one = release(serve(8080))
    await bench.engine.start(one, attempt())
    const count = async () => {
      const program = 'fs.readdirSync("/proc").filter((name)=>/^[0-9]+$/.test(name)).length'
      return (await bench.engine.exec(one.service, ['node', '-p', program], limit())).output.trim()
    }
    const before = await count()
    const stop = new AbortController()
    const stubborn = `process.on('SIGHUP',()=>{});console.log('up');setInterval(()=>{},1e6)`
    const wish = { command: ['node', '-e', stubborn], columns: 80, rows: 24 }
    const { stream } = await bench.engine.shell(one.service, wish, stop.signal)
    await new Promise((resolve) => stream.once('data', resolve))
    assert.notEqual(await count(), before)
    stop.abort()
    await until('the command is gone', async () => (await count()) === before)
  })

  it('asks a health command by argument list', async () => {
    const probe = {
      initialDelaySeconds: 0,
      periodSeconds: 1,
      timeoutSeconds: 5,
      successThreshold: 1,
      failureThreshold: 3,
    }
    const readiness = (command: string[]) => ({ probes: { readiness: { check: { type: 'exec', command }, ...probe } } })
    await bench.engine.start(release(serve(8080), readiness(['node', '-e', 'process.exit(0)'])), attempt())
    const bad = release(serve(8080), readiness(['node', '-e', 'process.exit(4)', '; touch /x']))
    await assertNotReady(bad, /health command "node" ended with code 4/)
  })

  it('goes by what a gRPC health service says, and waits until it serves', async () => {
    // The status is one byte of the answer's frame: 2 is NOT_SERVING, 1 is SERVING.
    const serving = (afterMs: number) =>
      `process.on('SIGTERM',()=>process.exit(0));let began;require('http2').createServer().on('stream',(stream)=>{
      stream.respond({':status':200,'content-type':'application/grpc'},{waitForTrailers:true})
      stream.on('wantTrailers',()=>stream.sendTrailers({'grpc-status':'0'}))
      began??=Date.now();stream.end(Buffer.from([0,0,0,0,2,8,Date.now()-began<${afterMs}?2:1]))}).listen(8080,()=>console.log('up'))`
    const check = { type: 'grpc', port: 8080, service: 'shop' } as const
    const probe = {
      initialDelaySeconds: 0,
      periodSeconds: 1,
      timeoutSeconds: 5,
      successThreshold: 1,
      failureThreshold: 3,
    }
    const readiness = { probes: { readiness: { check, ...probe } } }
    const late = release(serving(700), readiness)
    await bench.engine.start(late, attempt())
    const [up] = await bench.lines(late.service)
    assert.ok(systemClock.now().getTime() - Date.parse(up?.at ?? '') >= 650, `up at ${up?.at}`)
    await assertNotReady(
      release(serving(1e9), readiness),
      /gRPC health check on port 8080 was answered with NOT_SERVING/,
    )
  })

  it('fails a program that ends well at once, again and again: it was to go on', async () => {
    const done = release(`console.log('nothing to do')`)
    await assert.rejects(bench.engine.start(done, attempt()), (error) => {
      assert.ok(error instanceof EngineError && error.lastLines.includes('nothing to do'), String(error))
      return /exited with code 0 three times/.test(error.message)
    })
  })

  it('says where a program listens when it is not where it was said to', async () => {
    await assertNotReady(
      release(serve(3000)),
      /listens on 3000, port 8080 was declared; set internal_port to 3000 or make the program listen on 8080/,
    )
    await assertNotReady(release(serve(8080, { host: '127.0.0.1' })), /listens on 127\.0\.0\.1:8080 only/)
    const check = { type: 'http', path: '/no', scheme: 'HTTP', port: 8080 } as const
    const probe = {
      initialDelaySeconds: 0,
      periodSeconds: 1,
      timeoutSeconds: 1,
      successThreshold: 1,
      failureThreshold: 1,
    }
    const unwell = release(serve(8080, { status: 500 }), { probes: { readiness: { check, ...probe } } })
    await assertNotReady(unwell, /GET \/no on port 8080 was answered with 500/)
  })

  it('masks the secrets of the workload in the last lines', async () => {
    const variables = { TOKEN: new Secret('canary-secret-4711') }
    const leaking = release(`console.log('token is '+process.env.TOKEN);process.exit(1)`, { variables })
    await assert.rejects(bench.engine.start(leaking, attempt()), (error) => {
      assert.ok(error instanceof EngineError)
      assert.match(error.lastLines.join('\n'), /token is \*+/)
      assert.equal(`${error}${JSON.stringify(error)}`.includes('canary'), false)
      return true
    })
  })

  it('keeps a volume over retire and releases, and removes it with the service', async () => {
    const volume = { id: newId(), mountPoint: '/data', sizeGiB: 1 }
    const one = release(serve(8080), { storage: [volume] })
    await bench.engine.start(one, attempt())
    await bench.engine.exec(one.service, ['node', '-e', `fs.writeFileSync('/data/kept','yes')`], limit())
    await bench.engine.retire(one.service, undefined, attempt())
    const next = { ...one, id: newId() }
    await bench.engine.start(next, attempt())
    assert.equal(
      (await bench.engine.exec(one.service, ['node', '-p', `fs.readFileSync('/data/kept','utf8')`], limit())).output,
      'yes\n',
    )
    await bench.engine.erase(one.service, attempt())
    assert.equal(await bench.exists(`/volumes/${volumeName(volume)}`), false)
  })

  it('makes one network when many start at once', async () => {
    const environment = newId()
    const releases = Array.from({ length: 4 }, () => newRelease(bench.workload('web'), { environment }))
    const engines = releases.map((_, index) => (index % 2 ? bench.engine : bench.anotherEngine()))
    const prepared = engines.map((engine) => engine.prepareEnvironment(environment, attempt()))
    await Promise.all(releases.map((one, index) => engines[index]?.start(one, attempt())))
    await Promise.all(prepared)
    assert.equal(await bench.countNetworks(networkName(environment)), 1)
    await Promise.all(releases.map((one) => bench.engine.erase(one.service, attempt())))
    await bench.engine.eraseEnvironment(environment, attempt())
    assert.equal(await bench.countNetworks(networkName(environment)), 0)
  })

  it('lets services reach each other inside one environment by alias, and not across', async () => {
    const api = release(serve(8080), { aliases: ['api'] })
    const [endpoint] = await bench.engine.start(api, attempt())
    const near = newRelease(bench.workload('web'), { environment: api.environment })
    const far = release(serve(8080))
    await Promise.all([bench.engine.start(near, attempt()), bench.engine.start(far, attempt())])
    const reach = async (service: string, host: string, timeout = 800) => {
      const source = `require('net').connect({host:${JSON.stringify(host)},port:8080,timeout:${timeout}}).on('connect',()=>process.exit(0)).on('timeout',()=>process.exit(1)).on('error',()=>process.exit(1))`
      return (await bench.engine.exec(service, ['node', '-e', source], limit())).exitCode === 0
    }
    assert.equal(await reach(near.service, 'api', 30_000), true)
    assert.equal(await reach(far.service, 'api'), false)
    assert.equal(await reach(far.service, endpoint?.address ?? ''), false)
    assert.equal(await reach(far.service, containerName(api, 1)), false)
  })

  it('brings a program back that exits, and tells how often', async () => {
    const one = release(`${serve(8080)};require('http').createServer(()=>process.exit(5)).listen(9999)`)
    const [endpoint] = await bench.engine.start(one, attempt())
    const kill = () => fetch(`http://${endpoint?.address}:9999/`, { signal: limit() }).catch(() => {})
    await kill()
    await until('it has exited and runs again', async () => {
      const observation = await bench.engine.observe(one.service, limit())
      return observation.state === 'running' && observation.replicas[0]?.exits === 1
    })
    await until('it is failing', async () => {
      await kill()
      return (await bench.engine.observe(one.service, limit())).state === 'failing'
    })
  })

  it('sees nothing of another installation and of strangers, and touches none of it', async () => {
    const one = newRelease(bench.workload('web'))
    await bench.engine.start(one, attempt())
    const other = bench.anotherEngine('another')
    assert.equal((await other.observeAll(limit())).size, 0)
    await other.erase(one.service, attempt())
    await other.eraseEnvironment(one.environment, attempt())
    assert.equal((await bench.engine.observe(one.service, limit())).state, 'running')
    const stranger = newRelease(bench.workload('web'))
    await bench.createBare(containerName(stranger, 1))
    await assert.rejects(bench.engine.start(stranger, attempt()), { reason: 'refused' })
    assert.equal(await bench.exists(`/containers/${containerName(stranger, 1)}/json`), true)
  })

  it('restarts a replica that fails its liveness probe, and only then', async () => {
    const check = { type: 'http', path: '/', scheme: 'HTTP', port: 8080 } as const
    const probe = {
      initialDelaySeconds: 0,
      periodSeconds: 0,
      timeoutSeconds: 30,
      successThreshold: 1,
      failureThreshold: 3,
    }
    const one = release(serve(8080, { failsAfter: 2 }), {
      probes: { liveness: { check, ...probe } },
      stopGraceSeconds: 0,
    })
    await bench.engine.start(one, attempt())
    const name = containerName(one, 1)
    const before = (await bench.inspect(name)).State.StartedAt
    // Two answers are well, the third failure in a row is the fifth question.
    for (let times = 0; times < 4; times++) assert.deepEqual(await bench.engine.checkLiveness(limit()), [])
    assert.deepEqual(await bench.engine.checkLiveness(limit()), [name])
    assert.notEqual((await bench.inspect(name)).State.StartedAt, before)
  })

  it('goes on following when the line to the daemon is cut, without a line lost or doubled', async () => {
    const count = `let n=0;setInterval(()=>console.log('line '+n++),20);require('net').createServer().listen(8080)`
    const one = release(count)
    const proxy = await bench.proxy()
    await bench.engine.start(one, attempt())
    const end = new AbortController()
    const texts: string[] = []
    const following = (async () => {
      for await (const { text } of proxy.engine.logs(one.service, { follow: true }, end.signal)) texts.push(text)
    })()
    await until('some lines', () => texts.length > 10)
    const atCut = texts.length
    proxy.cut()
    await until('lines after the cut', () => texts.length > atCut + 20)
    end.abort()
    await following
    assert.deepEqual(
      texts,
      texts.map((_, index) => `line ${index}`),
    )
    await proxy.close()
  })

  it('loses and doubles no line when the daemon rotates its log file', async () => {
    // A file is 10 MB: some 70,000 of these lines.
    const total = 100_000
    const burst = `let s='';for(let k=0;k<500&&n<${total};k++)s+=n+++' '+'x'.repeat(110)+'\\n';process.stdout.write(s)`
    const one = release(`let n=0;require('net').createServer().listen(8080);setInterval(()=>{${burst}},20)`)
    await bench.engine.start(one, attempt())
    const end = new AbortController()
    let expected = 0
    for await (const { text } of bench.engine.logs(one.service, { follow: true }, end.signal)) {
      if (text.split(' ', 1)[0] !== String(expected))
        assert.fail(`line ${text.split(' ', 1)[0]} instead of ${expected}`)
      if (++expected === total) end.abort()
    }
    assert.equal(expected, total)
  })

  it('starts through a daemon whose line breaks while it waits, and makes one container', async () => {
    const proxy = await bench.proxy()
    const one = release(serve(8080, { afterMs: 1_000 }))
    const starting = proxy.engine.start(one, attempt())
    await until('it runs', async () => (await bench.engine.observe(one.service, limit())).state === 'running')
    proxy.cut()
    assert.equal((await starting).length, 1)
    const observation = await bench.engine.observe(one.service, limit())
    assert.equal(observation.state === 'running' && observation.replicas.length, 1)
    await proxy.close()
  })
})
