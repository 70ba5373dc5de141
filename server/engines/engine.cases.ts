import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { until } from '../../test/support/until.ts'
import { type Attempt, silent } from '../lib/attempt.ts'
import { systemClock } from '../lib/clock.ts'
import { armFailpoints, type Failpoint } from '../lib/failpoint.ts'
import { newId } from '../lib/id.ts'
import { Secret } from '../lib/secret.ts'
import { type Endpoint, type Engine, EngineError, type LogLine, type LongRunning, type Release } from './engine.ts'

/**
 * What a program in the suite does: `web` opens port 8080 and prints "up", `crash` prints "boom"
 * and exits with code 3.
 */
export type Program = 'web' | 'crash' | 'never-listens' | 'portless' | 'out-of-memory' | 'image-missing'

/** An engine under test, with the details that the suite cannot know. */
export interface EngineBench {
  readonly engine: Engine
  workload(program: Program): LongRunning
  /** Returns whether a program answers at the endpoint. */
  answers(endpoint: Endpoint): Promise<boolean>
  /** Commands for `exec` that print a variable or a file, or exit with a code. */
  readonly commands: Record<'printVariable' | 'printFile' | 'exitWith', (argument: string) => string[]>
  /** Removes one replica behind the engine's back. */
  remove(replica: string): Promise<void>
  /**
   * The engine replaces lost replicas itself, at once, and keeps nothing of replicas that ended.
   * Otherwise that happens at the next start.
   */
  readonly repairsItself?: boolean
  close(): Promise<void>
}

const limit = (): AbortSignal => AbortSignal.timeout(120_000)
export const attempt = (signal = limit()): Attempt => ({ signal, output: silent })

export const newRelease = (workload: LongRunning, of: Partial<Release> = {}): Release => ({
  id: newId(),
  service: newId(),
  environment: newId(),
  displayName: 'a service; $(touch x)',
  workload,
  ...of,
})

/**
 * The suite for every engine. Charts have no cases here, and the fake engine runs none: rendering,
 * rights and upgrades are those of Helm and the API server, which a fake could only repeat. Tests
 * of charts are in `test/kubernetes/chart*.kubernetes.ts`.
 */
export function engineCases(name: string, open: () => Promise<EngineBench>): void {
  describe(`engine ${name}`, () => {
    let bench: EngineBench
    before(async () => {
      bench = await open()
    })
    afterEach(() => armFailpoints(undefined))
    after(() => bench?.close())
    const get = (): EngineBench => bench
    startCases(get)
    failureCases(get)
    crashCases(get)
    endCases(get)
    insideCases(get)
    logCases(get)
  })
}

function startCases(get: () => EngineBench): void {
  it('starts a release and returns an endpoint that answers', async () => {
    const { engine, workload, answers } = get()
    const release = newRelease(workload('web'))
    const endpoints = await engine.start(release, attempt())
    assert.deepEqual(
      endpoints.map(({ port }) => port),
      [8080],
    )
    assert.equal(await answers(only(endpoints)), true)
    const observation = await engine.observe(release.service, limit())
    assert.equal(observation.state, 'running')
    assert.equal(observation.state === 'running' && observation.release, release.id)
    const [replica] = observation.state === 'running' ? observation.replicas : []
    assert.ok(
      Math.abs((replica?.startedAt?.getTime() ?? 0) - systemClock.now().getTime()) < 600_000,
      `${replica?.startedAt}`,
    )
    assert.equal(replica?.image, release.workload.image)
    assert.equal(replica?.finishedAt, undefined)
    await engine.erase(release.service, attempt())
  })

  it('returns the same endpoints when start is repeated', async () => {
    const { engine, workload } = get()
    const release = newRelease({ ...workload('web'), replicas: { min: 2, max: 3 } })
    const first = await engine.start(release, attempt())
    assert.equal(first.length, 2)
    assert.deepEqual(await engine.start(release, attempt()), first)
    assert.equal((await replicasOf(engine, release)).length, 2)
    await engine.erase(release.service, attempt())
  })

  it('reports a program without ports as healthy once it has run for a while', async () => {
    const { engine, workload } = get()
    const release = newRelease(workload('portless'))
    assert.deepEqual(await engine.start(release, attempt()), [])
    assert.equal((await engine.observe(release.service, limit())).state, 'running')
    await engine.erase(release.service, attempt())
  })

  it('reports a removed replica as missing and recreates it', async () => {
    const { engine, workload, remove, repairsItself } = get()
    const release = newRelease({ ...workload('web'), replicas: { min: 2, max: 2 } })
    await engine.start(release, attempt())
    await remove((await replicasOf(engine, release))[0]?.name ?? '')
    if (!repairsItself) {
      const observation = await engine.observe(release.service, limit())
      assert.equal(observation.state, 'starting')
      assert.match((observation.state === 'starting' && observation.reason) || '', /1 of 2 replicas is missing/)
    }
    assert.equal((await engine.start(release, attempt())).length, 2)
    assert.equal((await engine.observe(release.service, limit())).state, 'running')
    await engine.erase(release.service, attempt())
  })
}

function failureCases(get: () => EngineBench): void {
  it('keeps the running replicas when another one cannot be recreated', async () => {
    const { engine, workload, remove, answers, repairsItself } = get()
    const release = newRelease({ ...workload('web'), replicas: { min: 2, max: 2 } })
    await engine.start(release, attempt())
    const [first, second] = await replicasOf(engine, release)
    await remove(first?.name ?? '')
    const broken = { ...release, workload: { ...workload('image-missing'), replicas: { min: 2, max: 2 } } }
    await assert.rejects(engine.start(broken, attempt()), { reason: 'image-missing' })
    const left = await replicasOf(engine, release)
    const up = left.filter(({ running }) => running).map(({ name }) => name)
    assert.ok(second && up.includes(second.name), up.join())
    assert.ok(repairsItself || left.length === 1, up.join())
    assert.equal((await engine.start(release, attempt())).length, 2)
    assert.equal(await answers((await engine.start(release, attempt()))[0] ?? only([])), true)
    await engine.erase(release.service, attempt())
  })

  const failures: readonly [Program, EngineError['reason'], RegExp][] = [
    ['crash', 'crashed', /exited with code 3 three times/],
    ['out-of-memory', 'out-of-memory', /memory/],
    ['never-listens', 'not-ready', /did not become ready within 1 s/],
    ['image-missing', 'image-missing', /no image/],
  ]
  for (const [program, reason, message] of failures) {
    it(`fails a release that is "${program}", removes it and keeps the old one running`, async () => {
      const { engine, workload, answers } = get()
      const old = newRelease(workload('web'))
      const endpoints = await engine.start(old, attempt())
      const startDeadlineSeconds = program === 'never-listens' ? 1 : 120
      const bad = { ...old, id: newId(), workload: { ...workload(program), startDeadlineSeconds } }
      await assert.rejects(engine.start(bad, attempt()), (error) => {
        assert.ok(error instanceof EngineError, String(error))
        assert.equal(error.reason, reason, error.message)
        assert.match(error.message, message)
        if (program === 'crash') assert.ok(error.lastLines.includes('boom'), error.lastLines.join())
        return true
      })
      assert.deepEqual(
        (await replicasOf(engine, old)).map((replica) => replica.release),
        [old.id],
      )
      assert.equal(await answers(only(endpoints)), true)
      await engine.erase(old.service, attempt())
    })
  }

  it('stops waiting when it is aborted, and retire removes the rest', async () => {
    const { engine, workload } = get()
    const release = newRelease({ ...workload('never-listens'), startDeadlineSeconds: 600 })
    const cancel = new AbortController()
    const starting = engine.start(release, attempt(cancel.signal))
    const refused = assert.rejects(starting, (error) => error === 'canceled')
    await until('the replica is there', async () => (await replicasOf(engine, release)).some(({ running }) => running))
    cancel.abort('canceled')
    await refused
    await engine.retire(release.service, undefined, attempt())
    assert.deepEqual(await engine.observe(release.service, limit()), { state: 'absent' })
  })
}

function crashCases(get: () => EngineBench): void {
  for (const point of ['engine.created', 'engine.started', 'engine.healthy'] satisfies Failpoint[]) {
    it(`finds what it created before it crashed at ${point}, and creates no duplicate`, async () => {
      const { engine, workload, answers } = get()
      const file = { path: '/etc/late/note.txt', content: 'written' }
      const release = newRelease({ ...workload('web'), files: [file] })
      armFailpoints(`${point}:throw`)
      await assert.rejects(engine.start(release, attempt()), /failpoint/)
      const left = (await replicasOf(engine, release)).map((replica) => replica.name)
      assert.equal(left.length, 1)
      const endpoints = await engine.start(release, attempt())
      assert.equal(await answers(only(endpoints)), true)
      assert.deepEqual(
        (await replicasOf(engine, release)).map((replica) => replica.name),
        left,
      )
      const { output } = await engine.exec(release.service, get().commands.printFile(file.path), limit())
      assert.equal(output, 'written')
      await engine.erase(release.service, attempt())
    })
  }

  it('retires the rest after a crash between stopping and removing', async () => {
    const { engine, workload, repairsItself } = get()
    const release = newRelease(workload('web'))
    await engine.start(release, attempt())
    armFailpoints('retire.stopped:throw')
    await assert.rejects(engine.retire(release.service, undefined, attempt()), /failpoint/)
    assert.equal((await engine.observe(release.service, limit())).state, 'stopped')
    const [{ startedAt, finishedAt } = {}] = await replicasOf(engine, release)
    const isKnown = startedAt && finishedAt && startedAt <= finishedAt
    assert.ok(repairsItself || isKnown, `${startedAt} to ${finishedAt}`)
    await engine.retire(release.service, undefined, attempt())
    assert.deepEqual(await engine.observe(release.service, limit()), { state: 'absent' })
    await engine.erase(release.service, attempt())
  })
}

function endCases(get: () => EngineBench): void {
  it('retires everything except the release to keep, and can be repeated', async () => {
    const { engine, workload, answers } = get()
    const old = newRelease(workload('web'))
    const next = { ...old, id: newId() }
    await engine.start(old, attempt())
    const endpoints = await engine.start(next, attempt())
    const both = await engine.observe(old.service, limit())
    assert.equal(both.state === 'running' && both.release, next.id)
    assert.equal((await replicasOf(engine, old)).length, 2)
    for (let times = 0; times < 2; times++) {
      await engine.retire(old.service, next.id, attempt())
      assert.deepEqual(
        (await replicasOf(engine, old)).map((replica) => replica.release),
        [next.id],
      )
    }
    assert.equal(await answers(only(endpoints)), true)
    await engine.erase(old.service, attempt())
  })

  it('changes the number of replicas of a release without touching those that remain', async () => {
    const { engine, workload, answers } = get()
    const release = newRelease(workload('web'))
    const [first] = await engine.start(release, attempt())
    const wider = { ...release, workload: { ...release.workload, replicas: { min: 3, max: 3 } } }
    const endpoints = await engine.start(wider, attempt())
    assert.equal(endpoints.length, 3)
    assert.ok(first && endpoints.some(({ replica, address }) => replica === first.replica && address === first.address))
    await engine.endReplicas(release.service, [first.replica, 'never-there'], attempt())
    const left = (await replicasOf(engine, release)).map(({ name }) => name).sort()
    assert.deepEqual(left, endpoints.flatMap(({ replica }) => (replica === first.replica ? [] : [replica])).sort())
    const same = { ...release, workload: { ...release.workload, replicas: { min: 2, max: 3 } } }
    assert.equal((await engine.start(same, attempt())).length, 2)
    assert.deepEqual((await replicasOf(engine, release)).map(({ name }) => name).sort(), left)
    const other = endpoints.find(({ replica }) => replica !== first.replica)
    assert.equal(await answers(other ?? only([])), true)
    await engine.erase(release.service, attempt())
  })

  it('reports nothing for an unknown service', async () => {
    const { engine } = get()
    assert.deepEqual(await engine.observe(newId(), limit()), { state: 'absent' })
    await engine.retire(newId(), undefined, attempt())
    await engine.erase(newId(), attempt())
    await engine.eraseEnvironment(newId(), attempt())
    assert.deepEqual(await collect(engine.logs(newId(), { follow: false }, limit())), [])
    await engine.ping(limit())
  })

  it('calls whenBegun when it begins a release, but not for a running one', async () => {
    const { engine, workload } = get()
    const release = newRelease(workload('web'))
    let begun = 0
    for (let times = 0; times < 2; times++) await engine.start(release, { ...attempt(), whenBegun: () => begun++ })
    assert.equal(begun, 1)
    await engine.erase(release.service, attempt())
  })

  it('starts the same release for two services, and keeps their replicas apart', async () => {
    const { engine, workload } = get()
    const one = newRelease(workload('web'))
    const other = { ...one, service: newId(), environment: newId() }
    const of = async ({ service }: { readonly service: string }) => {
      const seen = await engine.observe(service, limit())
      return seen.state === 'absent' ? [] : seen.replicas.map(({ name }) => name)
    }
    await engine.start(one, attempt())
    await engine.start(other, attempt())
    const [first, second] = [await of(one), await of(other)]
    assert.deepEqual([first.length, second.length], [1, 1])
    assert.notEqual(first[0], second[0])
    await engine.erase(other.service, attempt())
    await engine.eraseEnvironment(other.environment, attempt())
    assert.deepEqual(await of(one), first)
    await engine.erase(one.service, attempt())
  })

  it('observes all services at once, and keeps an environment that is in use', async () => {
    const { engine, workload } = get()
    const one = newRelease(workload('web'))
    const two = newRelease(workload('web'), { environment: one.environment })
    for (let times = 0; times < 2; times++) await engine.prepareEnvironment(one.environment, attempt())
    await Promise.all([engine.start(one, attempt()), engine.start(two, attempt())])
    await engine.eraseEnvironment(one.environment, attempt())
    const all = await engine.observeAll(limit())
    assert.equal(all.get(one.service)?.state, 'running')
    assert.equal(all.get(two.service)?.state, 'running')
    await Promise.all([engine.erase(one.service, attempt()), engine.erase(two.service, attempt())])
    assert.ok((await engine.listEnvironments(limit())).includes(one.environment))
    for (let times = 0; times < 2; times++) await engine.eraseEnvironment(one.environment, attempt())
    assert.ok(!(await engine.listEnvironments(limit())).includes(one.environment))
    assert.equal((await engine.observeAll(limit())).has(one.service), false)
  })
}

/** Values that a shell, an env file or a text table would change. */
const values = {
  PLAIN: 'a=b "c" $HOME',
  LINES: 'first\nsecond\r\n\n\ttabbed\n',
  BLANK: '  \t outer blanks \t  ',
  SHELL: `'$(id)' \`id\` %s %n \\n \\ ; | & # !`,
  OTHER: 'sésame 漢字 🦆 👩‍👩‍👧 \u{10ffff}',
  EMPTY: '',
}

function insideCases(get: () => EngineBench): void {
  it('passes variables and files to the program and to exec unchanged', async () => {
    const { engine, workload, commands } = get()
    const release = newRelease({
      ...workload('web'),
      variables: { ...values, HIDDEN: new Secret('canary-4711'), WIDE: new Secret(values.OTHER) },
      files: [{ path: '/srv/settings/app.json', content: new Secret('{"key":"canary-0815"}') }],
    })
    await engine.start(release, attempt())
    const output = async (command: string[]) => (await engine.exec(release.service, command, limit())).output
    for (const [name, value] of Object.entries(values)) {
      assert.equal(await output(commands.printVariable(name)), value, name)
    }
    assert.equal(await output(commands.printVariable('WIDE')), values.OTHER)
    assert.equal(await output(commands.printVariable('HIDDEN')), 'canary-4711')
    assert.equal(await output(commands.printFile('/srv/settings/app.json')), '{"key":"canary-0815"}')
    assert.equal((await engine.exec(release.service, commands.exitWith('7'), limit())).exitCode, 7)
    assert.equal(JSON.stringify(await engine.observe(release.service, limit())).includes('canary'), false)
    await engine.erase(release.service, attempt())
  })

  it('rejects exec if nothing runs', async () => {
    const { engine, commands } = get()
    await assert.rejects(engine.exec(newId(), commands.exitWith('0'), limit()), { reason: 'refused' })
  })
}

function logCases(get: () => EngineBench): void {
  it('returns the lines of all replicas in order of time, or only later ones on request', async () => {
    const { engine, workload } = get()
    const release = newRelease({ ...workload('web'), replicas: { min: 2, max: 2 } })
    await engine.start(release, attempt())
    let lines: LogLine[] = []
    await until('both replicas have printed', async () => {
      lines = await collect(engine.logs(release.service, { follow: false }, limit()))
      return lines.length === 2
    })
    assert.deepEqual(
      lines.map(({ text, stream, release: id }) => [text, stream, id]),
      Array(2).fill(['up', 'stdout', release.id]),
    )
    assert.equal(new Set(lines.map(({ replica }) => replica)).size, 2)
    const [first, second] = lines.map(({ at }) => at)
    assert.match(first ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/)
    assert.ok(String(first) < String(second), `${first} before ${second}`)
    const later = await collect(engine.logs(release.service, { follow: false, after: String(first) }, limit()))
    assert.deepEqual(
      later.map(({ at }) => at),
      [second],
    )
    await engine.erase(release.service, attempt())
  })

  it('follows replicas that start later, and ends when it is aborted', async () => {
    const { engine, workload } = get()
    const old = newRelease(workload('web'))
    const next = { ...old, id: newId() }
    const end = new AbortController()
    await engine.start(old, attempt())
    const seen: string[] = []
    const following = (async () => {
      for await (const line of engine.logs(old.service, { follow: true }, end.signal)) seen.push(line.release)
    })()
    await until('the first line', () => seen.length === 1)
    await engine.start(next, attempt())
    await until('the line of the new replica', () => seen.length === 2)
    await engine.retire(old.service, next.id, attempt())
    end.abort()
    await following
    assert.deepEqual(seen, [old.id, next.id])
    await engine.erase(old.service, attempt())
  })
}

const replicasOf = async (engine: Engine, release: Release) => {
  const observation = await engine.observe(release.service, limit())
  return observation.state === 'absent' ? [] : observation.replicas
}

function only<T>(items: readonly T[]): T {
  const [item] = items
  assert.ok(item !== undefined && items.length === 1, `${items.length} instead of one`)
  return item
}

async function collect(lines: AsyncIterable<LogLine>): Promise<LogLine[]> {
  const collected: LogLine[] = []
  for await (const line of lines) collected.push(line)
  return collected
}
