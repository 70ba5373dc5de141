import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../lib/clock.ts'
import { limits } from '../builder.cases.ts'
import { createStepLimits, limitFiles, stepPlace } from './step-limits.ts'

const caps = { ...limits, cpuMilli: 500, memoryMiB: 100 }
const never = (problem: string): never => assert.fail(problem)
const writes = (version: 1 | 2) =>
  limitFiles(version, caps)
    .flat()
    .map(({ name, value }) => `${name}=${value}`)

test('limitFiles returns the values for both versions of control groups', () => {
  assert.deepEqual(writes(1), [
    'cpu.cfs_period_us=100000',
    'cpu.cfs_quota_us=50000',
    'memory.limit_in_bytes=104857600',
    'memory.memsw.limit_in_bytes=104857600',
    'pids.max=2048',
  ])
  assert.deepEqual(writes(2), ['cpu.max=50000 100000', 'memory.max=104857600', 'memory.swap.max=0', 'pids.max=2048'])
})

test('stepPlace returns the directories in which steps appear', () => {
  assert.equal(stepPlace({ version: 1, driver: 'cgroupfs' }, '/c').directory('pids'), '/c/pids/docker/buildkit')
  assert.equal(stepPlace({ version: 2, driver: 'cgroupfs' }, '/c').directory('pids'), '/c/docker/buildkit')
  const systemd = stepPlace({ version: 2, driver: 'systemd' }, '/c')
  assert.equal(systemd.directory('pids'), '/c')
  assert.ok(systemd.isStep.test(`system.slice:docker:${'a1'.repeat(12)}b`))
  assert.ok(!systemd.isStep.test('system.slice'))
})

test('hold limits each step that appears while builds run, by the highest limit held', async () => {
  const root = await mkdtemp(join(tmpdir(), 'quayside-cgroup-'))
  try {
    const stepLimits = createStepLimits({ version: 2, driver: 'cgroupfs' }, systemClock, { root })
    const [small, large] = [
      await stepLimits.hold(caps, never),
      await stepLimits.hold({ ...caps, memoryMiB: 200 }, never),
    ]
    assert.ok(small.enforced && large.enforced)
    const first = await appear(root, 'a'.repeat(25))
    assert.equal(await written(join(first, 'memory.max')), '209715200')
    assert.equal(await written(join(first, 'cpu.max')), '50000 100000')
    large.release()
    const second = await appear(root, 'b'.repeat(25))
    assert.equal(await written(join(second, 'memory.max')), '104857600')
    small.release()
  } finally {
    await rm(root, { recursive: true })
  }
})

test('hold makes builds yield to containers, and reports steps that could not be limited', async () => {
  const root = await mkdtemp(join(tmpdir(), 'quayside-cgroup-'))
  try {
    const parent = join(root, 'docker', 'buildkit')
    await mkdir(parent, { recursive: true })
    await writeFile(join(parent, 'cpu.weight'), '100')
    const failure = Promise.withResolvers<string>()
    const stepLimits = createStepLimits({ version: 2, driver: 'cgroupfs' }, systemClock, { root })
    const held = await stepLimits.hold(caps, failure.resolve)
    assert.equal(await readFile(join(parent, 'cpu.weight'), 'utf8'), '12')
    await mkdir(join(parent, 'c'.repeat(25), 'pids.max'), { recursive: true })
    assert.match(await failure.promise, /^Memory and cores of one step are not limited: .*EISDIR/)
    held.release()
  } finally {
    await rm(root, { recursive: true })
  }
})

test('hold thaws a step that a killed server left frozen', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'quayside-cgroup-'))
  t.after(() => rm(root, { recursive: true }))
  const step = join(root, 'docker', 'buildkit', 'd'.repeat(25))
  await mkdir(step, { recursive: true })
  await writeFile(join(step, 'cgroup.freeze'), '1')
  const held = await createStepLimits({ version: 2, driver: 'cgroupfs' }, systemClock, { root }).hold(caps, never)
  assert.equal(await readFile(join(step, 'cgroup.freeze'), 'utf8'), '0')
  held.release()
})

test('hold reports that limits are not enforced when it may not write', async () => {
  const stepLimits = createStepLimits({ version: 1, driver: 'cgroupfs' }, systemClock, { root: '/dev/null' })
  const held = await stepLimits.hold(caps, never)
  assert.equal(held.enforced, false)
  held.release()
})

/** Creates a step's control group as the kernel does, with its files, which are empty. */
async function appear(root: string, step: string): Promise<string> {
  const directory = join(root, 'docker', 'buildkit', step)
  await mkdir(directory, { recursive: true })
  for (const name of ['cpu.max', 'memory.max', 'pids.max']) await writeFile(join(directory, name), '', { flag: 'a' })
  return directory
}

async function written(path: string): Promise<string> {
  const end = systemClock.monotonic() + 5000
  while (systemClock.monotonic() < end) {
    const content = await readFile(path, 'utf8')
    if (content !== '') return content
    await systemClock.sleep(5)
  }
  return assert.fail(`${path} was not written`)
}
