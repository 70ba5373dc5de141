import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { until } from '../../../test/support/until.ts'
import { systemClock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { Secret } from '../../lib/secret.ts'
import { attempt, newRelease } from '../engine.cases.ts'
import { EngineError, type Release } from '../engine.ts'
import { hostConfig } from './container-spec.ts'
import { containerName, networkName, volumeName } from './labels.ts'
import { type DockerBench, node, openDockerBench, serve } from './test-bench.ts'
import { useTestImage } from './test-image.ts'

const { socketPath, image } = useTestImage()
const limit = (): AbortSignal => AbortSignal.timeout(120_000)

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

  it('sends Docker only the allowed members, whatever the workload says', async () => {
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

  it('enforces limits and drops privileges', async () => {
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

  it('is reported as healthy soon after its port opens, however long the initial delay', async () => {
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

  it('ends a command whose terminal is closed, even if it ignores the hangup', async () => {
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

  it('runs a health command from its argument list', async () => {
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

  it('waits until a gRPC health service reports SERVING', async () => {
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

  it('fails a program that exits with code 0 again and again, because it should keep running', async () => {
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

  it('keeps a volume when releases are retired, and removes it with the service', async () => {
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

  it('creates one network when many services start at once', async () => {
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

  it('lets services reach each other by alias in one environment, but not in another', async () => {
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

  it('restarts a program that exits, and reports how often it did', async () => {
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

  it('ignores containers of another installation and of others', async () => {
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

  it('continues after the connection to the daemon was cut, and neither loses nor repeats a line', async () => {
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

  it('neither loses nor repeats a line when the daemon rotates its log file', async () => {
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

  it('starts a release although the connection to the daemon breaks, and creates one container', async () => {
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
