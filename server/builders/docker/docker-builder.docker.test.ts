import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { openDocker } from '../../../test/support/docker.ts'
import { systemClock } from '../../lib/clock.ts'
import {
  type BuildKind,
  builderCases,
  contextOf,
  failureOf,
  limits,
  recipeOf,
  recording,
  tarOf,
} from '../builder.cases.ts'
import { ensureBaseImage } from './base-image.ts'
import { createDockerBuilder } from './docker-builder.ts'
import { engineForTests } from './engine-for-tests.ts'
import { createTestBuildKit, whyNoOwnBuildKit } from './test-own-buildkit.ts'

const { socketPath, skip } = await engineForTests()
const docker = openDocker(socketPath)
const service = `test-${process.pid}`
let counter = 0

/** Returns a Dockerfile whose only step is this program. A number makes each one different. */
function running(program: string): string {
  const command = ['/usr/local/bin/node', '-e', `/* ${process.pid} ${counter++} */ ${program}`]
  return `FROM quayside/node:24\nRUN ${JSON.stringify(command)}\n`
}

function dockerfile(_service: string, kind: BuildKind): string {
  const print = `for (const line of ${JSON.stringify(kind.prints)}) console.log(line);`
  if (kind.does === 'succeed') return running(print)
  return running(kind.does === 'fail' ? `${print} process.exit(3)` : `${print} setInterval(() => {}, 1000)`)
}

describe('with the platform’s own BuildKit', { skip: await whyNoOwnBuildKit(socketPath, skip) }, () => {
  const buildKit = createTestBuildKit(socketPath)
  const builder = createDockerBuilder({ socketPath, buildKit })
  const signal = AbortSignal.timeout(200_000)
  before(() => ensureBaseImage({ socketPath }, signal))
  after(() => buildKit.remove())
  builderCases('Docker', () => ({ builder, dockerfile }))

  const build = async (dockerfileText: string, change: Parameters<typeof recipeOf>[2] = {}) => {
    const recipe = recipeOf(service, dockerfileText, { commit: `${counter++}`.padStart(40, '0'), ...change })
    const { attempt, lines } = recording()
    const image = await builder.build(contextOf(recipe), recipe, attempt)
    await builder.prune(service, [], signal)
    return { image, lines }
  }

  test('build labels images with service and recipe, and sets only the requested labels', async () => {
    const recipe = recipeOf(service, running(''))
    const { reference } = await builder.build(contextOf(recipe), recipe, recording().attempt)
    const { Config } = await docker.inspectImage(reference)
    assert.deepEqual(Config.Labels, {
      'quayside.base': `node-${process.versions.node}-${process.arch}`,
      'quayside.service': service,
      'quayside.recipe': reference.split(':')[1],
    })
    await builder.prune(service, [], signal)
  })

  test('build passes declared variables and no reserved ones', async () => {
    const show = 'console.log(JSON.stringify([process.env.A, process.env.B, process.env.HTTP_PROXY ?? null]))'
    const text = running(show).replace('\n', '\nARG A=default\nARG B="b c"\nARG HTTP_PROXY\n')
    const { lines } = await build(text, { variables: { A: 'x y=z', HTTP_PROXY: 'http://127.0.0.1:9', C: 'unused' } })
    assert.ok(lines.includes('["x y=z","b c",null]'), lines.join('\n'))
  })

  test('build copies excepted files and none that the ignore file excludes', async () => {
    const show = 'console.log(JSON.stringify(require("node:fs").readdirSync("/copied").sort()))'
    const text = running(show).replace('\n', '\nCOPY . /copied/\n')
    const recipe = recipeOf(service, text, { ignoreFile: { path: '.dockerignore', text: '.*\n*.key\n!public.key\n' } })
    const { attempt, lines } = recording()
    const files = { Dockerfile: text, '.dockerignore': '', '.env': 'x', 'private.key': 'x', 'public.key': 'x' }
    await builder.build(tarOf(files), recipe, attempt)
    await builder.prune(service, [], signal)
    assert.ok(lines.includes('["Dockerfile","public.key"]'), lines.join('\n'))
  })

  test('build runs each step again when the recipe ignores the cache', async () => {
    const text = running('console.log("ran " + performance.timeOrigin)')
    const ranIn = async (change: Parameters<typeof recipeOf>[2] = {}) =>
      (await build(text, change)).lines.filter((line) => line.startsWith('ran ')).length
    assert.equal(await ranIn(), 1)
    assert.equal(await ranIn(), 0, 'the cache has it')
    assert.equal(await ranIn({ ignoresCache: true }), 1)
  })

  test('build limits the memory of a step', async (t) => {
    if (process.getuid?.() !== 0) return t.skip('limits need root')
    const greedy = running('const kept = []; for (;;) kept.push(Buffer.alloc(1 << 24, 1))')
    const error = await failureOf(build(greedy, { limits: { ...limits, memoryMiB: 100 } }))
    assert.equal(error.reason, 'limits', error.message)
    assert.match(error.message, /100 MiB of memory/)
    return undefined
  })

  test('build limits the cores of a step', async (t) => {
    if (process.getuid?.() !== 0) return t.skip('limits need root')
    const busy =
      'const began = process.cpuUsage(); const end = performance.now() + 1500; while (performance.now() < ' +
      'end); console.log(process.cpuUsage(began).user)'
    const { lines } = await build(running(busy), { limits: { ...limits, cpuMilli: 200 } })
    const usedMicroseconds = Number(lines.find((line) => /^\d+$/.test(line)))
    assert.ok(usedMicroseconds > 0 && usedMicroseconds < 800_000, `used ${usedMicroseconds} µs in 1.5 s`)
    return undefined
  })

  test('build limits the processes of a step, and gives the next step the full number', async (t) => {
    if (process.getuid?.() !== 0) return t.skip('limits need root')
    // A process counts after its end until its parent waits for it. This program waits for none
    // before it has started as many as it can.
    const bomb = `const { spawn } = require('child_process');
      const start = () => spawn('/lib64/ld-linux-x86-64.so.2', ['--version'], { stdio: 'ignore' }).on('error', () => {}).pid;
      let begun = 0; while (begun < 5000 && start()) begun++;
      console.log('begun ' + begun); process.exit(0)`
    const program = bomb.replace(/\n\s*/g, ' ')
    for (let round = 0; round < 2; round++) {
      const { lines } = await build(running(program))
      const begun = Number(lines.find((line) => line.startsWith('begun'))?.split(' ')[1])
      assert.ok(begun > 1800 && begun < 2176, `${begun} processes at once`)
    }
    return undefined
  })

  test('a step gives files to users with large ids', async () => {
    const chown = "fs.writeFileSync('/a', ''); fs.chownSync('/a', 1000650000, 70000)"
    const give = `const fs = require('fs'); ${chown}; console.log('given')`
    assert.ok((await build(running(give))).lines.includes('given'))
  })

  test('build leaves no process behind when it is aborted', async () => {
    const recipe = recipeOf(service, running('console.log("begun"); setInterval(() => {}, 1000)'))
    const stop = new AbortController()
    const { attempt, line } = recording(stop.signal)
    const building = builder.build(contextOf(recipe), recipe, attempt)
    building.catch(() => {})
    await line('begun')
    assert.equal(await processesWith(recipe.dockerfileText), 1)
    stop.abort(new Error('stopped'))
    await assert.rejects(building, /stopped/)
    const limit = systemClock.monotonic() + 5000
    while ((await processesWith(recipe.dockerfileText)) > 0) {
      assert.ok(systemClock.monotonic() < limit, 'the step still runs five seconds after the abort')
      await systemClock.sleep(20)
    }
  })

  test('build shares no cache mounts between services', async () => {
    const program = (text: string) => running(text).replace('RUN ', 'RUN --mount=type=cache,id=shared,target=/cache ')
    const list = 'console.log("found", require("fs").readdirSync("/cache").length);'
    const write = program(`${list} require("fs").writeFileSync("/cache/poison", "x")`)
    assert.ok((await build(write)).lines.includes('found 0'))
    assert.ok((await build(program(list))).lines.includes('found 1'))
    const other = await build(program(list), { service: `${service}-other` })
    assert.ok(other.lines.includes('found 0'))
    await builder.prune(`${service}-other`, [], signal)
  })

  test('a step sees nothing of the machine: no engine, no other process, no foreign variable', async () => {
    const look = `const fs = require('fs');
      const others = fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name) && name !== String(process.pid));
      const sockets = ['/var/run/docker.sock', '/run/docker.sock'].filter((path) => fs.existsSync(path));
      console.log(JSON.stringify({ others, sockets, names: Object.keys(process.env).sort(), isFirst: process.pid === 1 }))`
    const { lines } = await build(running(look.replace(/\n\s*/g, ' ')))
    const seen = JSON.parse(lines.find((line) => line.startsWith('{')) ?? '{}')
    assert.deepEqual(seen, { others: [], sockets: [], names: seen.names, isFirst: true })
    assert.deepEqual(
      seen.names.filter(
        (name: string) => !/^(HOME|HOSTNAME|PATH|NODE_\w+|BUILDKIT_CACHE_MOUNT_NS|OTEL_\w+|TRACEPARENT)$/.test(name),
      ),
      [],
    )
  })

  for (const flag of ['--security=insecure', '--network=host', '--mount=type=ssh,required']) {
    test(`a step gets no more rights by ${flag}`, async () => {
      const error = await failureOf(build(running('console.log("ran")').replace('RUN ', `RUN ${flag} `)))
      assert.ok(['dockerfile', 'failed'].includes(error.reason), `${error.reason} ${error.message}`)
    })
  }

  const failures: [name: string, dockerfile: string, reason: string, message: RegExp][] = [
    [
      'a missing base image',
      'FROM nowhere.invalid/none:1\n',
      'failed',
      /base image "nowhere.invalid\/none:1" is not on/,
    ],
    [
      'a missing file',
      'FROM quayside/node:24\nCOPY absent.js /\n',
      'failed',
      /absent.js", which is not in the repository/,
    ],
    [
      'a mistake in the Dockerfile',
      'FROM quayside/node:24\nFOO bar\n',
      'dockerfile',
      /Dockerfile, line 2: unknown instruction/,
    ],
  ]
  for (const [name, text, reason, message] of failures) {
    test(`explains ${name}`, async () => {
      const error = await failureOf(build(text))
      assert.match(error.message, message)
      assert.equal(error.reason, reason)
    })
  }

  test('build explains a missing stage', async () => {
    const error = await failureOf(build('FROM quayside/node:24\n', { targetStage: 'absent' }))
    assert.match(error.message, /no stage named "absent"/)
  })
})

describe('with the BuildKit of a Docker Engine', { skip }, () => {
  const builder = createDockerBuilder({ socketPath })
  before(() => ensureBaseImage({ socketPath }, AbortSignal.timeout(100_000)))
  builderCases('Docker', () => ({ builder, dockerfile }))
})

test('build names the engine when it does not answer', async () => {
  const absent = createDockerBuilder({ socketPath: '/nonexistent/docker.sock' })
  const recipe = recipeOf(service, 'FROM scratch\n')
  const error = await failureOf(absent.build(contextOf(recipe), recipe, recording().attempt))
  assert.equal(error.reason, 'unreachable')
  assert.match(error.message, /\/nonexistent\/docker.sock does not answer/)
})

/** Returns how many processes of this machine run the program of that Dockerfile. */
async function processesWith(dockerfileText: string): Promise<number> {
  const marker = /\/\* \d+ \d+ \*\//.exec(dockerfileText)?.[0] ?? assert.fail('no marker')
  let count = 0
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (command.startsWith('/usr/local/bin/node') && command.includes(marker)) count++
  }
  return count
}
