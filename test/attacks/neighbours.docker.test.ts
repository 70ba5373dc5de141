import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, describe, type TestContext, test } from 'node:test'

import { pack } from 'tar-stream'
import { contextOf, recipeOf, recording } from '../../server/builders/builder.cases.ts'
import type { Builder } from '../../server/builders/builder.ts'
import { baseImage, ensureBaseImage, parseLibraries } from '../../server/builders/docker/base-image.ts'
import { createDockerBuilder } from '../../server/builders/docker/docker-builder.ts'
import { engineForTests } from '../../server/builders/docker/engine-for-tests.ts'
import { createTestBuildKit, whyNoOwnBuildKit } from '../../server/builders/docker/test-own-buildkit.ts'
import { DockerEngine } from '../../server/engines/index.ts'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { newId } from '../../server/lib/id.ts'
import { run } from '../../server/lib/run.ts'
import { until } from '../support/until.ts'

/**
 * Build steps of two organizations run at the same time on one bridge. One of them attacks the
 * other.
 */
const { socketPath, skip } = await engineForTests()
const ofEngine = createDockerBuilder({ socketPath })
const buildKit = createTestBuildKit(socketPath)
const own = createDockerBuilder({ socketPath, buildKit })
const noOwn = await whyNoOwnBuildKit(socketPath, skip)
const noPerl = await readFile('/usr/bin/perl').then(
  () => false as const,
  () => 'the attack needs perl',
)
const word = `canary-${randomBytes(8).toString('hex')}`

/** Answers on port 9000 until it is asked to end. */
const victimProgram = `/* ${word} */ const server = require('http').createServer((request, answer) => {
  answer.end('${word}');
  if (request.url === '/end') setTimeout(() => process.exit(0), 100);
}).listen(9000);
console.log('MAC ' + Object.values(require('os').networkInterfaces()).flat().find((one) => one.address.startsWith('1') && !one.internal).mac);
console.log('IP ' + Object.values(require('os').networkInterfaces()).flat().find((one) => one.family === 'IPv4' && !one.internal).address)`

/** Starts the victim's build. Returns its addresses when it answers. */
async function startVictim(t: TestContext, builder: Builder) {
  const recipe = recipeOf(
    newId(),
    `FROM ${baseImage}\nRUN ${JSON.stringify(['node', '-e', victimProgram.replace(/\n\s*/g, ' ')])}\n`,
    { organization: newId() },
  )
  const { attempt, lines } = recording(AbortSignal.timeout(100_000))
  const building = builder.build(contextOf(recipe), recipe, attempt)
  building.catch(() => {})
  const told = (name: string): string | undefined => lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1]
  const ip = await until('the victim prints its address', () => told('IP'), { seen: () => lines })
  const ask = (path: string): Promise<string> =>
    fetch(`http://${ip}:9000${path}`, {
      headers: { connection: 'close', 'x-word': word },
      signal: AbortSignal.timeout(3000),
    }).then((answer) => answer.text())
  t.after(async () => {
    await ask('/end').catch(() => {})
    await building
    await builder.prune(recipe.service, [], AbortSignal.timeout(60_000))
  })
  await until('the victim answers', () => ask('/').catch(() => undefined))
  return { ip, mac: told('MAC') ?? '', ask, lines }
}

const dialing = (ip: string): string =>
  `const one = require('net').connect({ host: '${ip}', port: 9000, timeout: 2000 });
  const end = (what) => () => { console.log('TCP ' + what); process.exit(0) };
  one.once('connect', end('open')).once('timeout', end('silent')).once('error', end('refused'))`

/** Runs a build whose step connects to the victim and then runs a program of Perl. */
async function attack(builder: Builder, ip: string, program: readonly string[]) {
  const { stdout } = await run('ldd', ['/usr/bin/perl'], { timeoutMs: 10_000 })
  const paths = ['/usr/bin/perl', ...parseLibraries(stdout.toString())]
  const files = Object.fromEntries(await Promise.all(paths.map(async (path) => [basename(path), await readFile(path)])))
  const spoof = await readFile(new URL('../support/spoof.pl', import.meta.url))
  const loader = paths.map((path) => basename(path)).find((name) => name.startsWith('ld-')) ?? ''
  const text = [
    `FROM ${baseImage}`,
    'COPY . /tools/',
    `RUN ${JSON.stringify(['node', '-e', dialing(ip).replace(/\n\s*/g, ' ')])}`,
    `RUN ${JSON.stringify([`/tools/${loader}`, '--library-path', '/tools', '/tools/perl', ...program])}`,
  ].join('\n')
  const recipe = recipeOf(newId(), text, { organization: newId() })
  const { attempt, lines } = recording(AbortSignal.timeout(100_000))
  const context = programsOf({ ...files, 'spoof.pl': spoof, Dockerfile: text })
  await builder.build(context, recipe, attempt).catch((error: unknown) => {
    throw new Error(lines.join('\n'), { cause: error })
  })
  await builder.prune(recipe.service, [], AbortSignal.timeout(60_000))
  return lines
}

/** Returns a build context with the same files, executable. */
function programsOf(files: Readonly<Record<string, string | Buffer>>): () => Promise<Readable> {
  return async () => {
    const tar = pack()
    for (const [name, content] of Object.entries(files)) tar.entry({ name, mode: 0o755 }, content)
    tar.finalize()
    return Readable.from(tar, { objectMode: false })
  }
}

describe('build steps of two organizations', { skip: skip || noPerl }, () => {
  before(() => ensureBaseImage({ socketPath }, AbortSignal.timeout(60_000)))
  after(() => buildKit.remove())

  test('a step neither reaches nor overhears a step of another build, whatever it sends', async (t) => {
    await new DockerEngine({ socketPath, instance: 'test-neighbours', clock }).guardNetworks(
      {},
      AbortSignal.timeout(20_000),
    )
    const victim = await startVictim(t, ofEngine)
    let asked = 0
    let isOver = false
    // The host keeps asking the victim. The attacker wants this traffic.
    const asking = (async () => {
      while (!isOver) {
        await victim.ask('/').then(
          () => asked++,
          () => {},
        )
        await clock.sleep(20)
      }
    })()
    const program = ['/tools/spoof.pl', victim.ip, victim.mac, word, '5']
    const lines = await attack(ofEngine, victim.ip, program).finally(() => {
      isOver = true
    })
    await asking
    const heard = JSON.parse(lines.find((line) => line.startsWith('{')) ?? '{}')
    assert.ok(lines.includes('TCP silent'), lines.join('\n'))
    assert.ok(heard.gateway > 0, 'the attacker hears nothing at all, so the test proves nothing')
    assert.deepEqual({ word: heard.word, neighbour: heard.neighbour }, { word: 0, neighbour: 0 })
    assert.ok(asked > 50, `the victim answered ${asked} times during the attack`)
    assert.deepEqual(
      [...lines, ...victim.lines].filter((line) => /kept apart/.test(line)),
      [],
    )
  })

  test('a step on the platform’s own BuildKit reaches no step of another organization and sends no packets of its own making', {
    skip: noOwn,
  }, async (t) => {
    const victim = await startVictim(t, own)
    const raw =
      'for my $kind ([17, 3, 768], [2, 3, 255]) { print socket(my $s, $$kind[0], $$kind[1], $$kind[2]) ? "RAW open\\n" : "RAW $!\\n" }'
    const lines = await attack(own, victim.ip, ['-e', raw])
    assert.equal(await victim.ask('/'), word)
    assert.ok(lines.includes('TCP silent'), lines.join('\n'))
    const said = lines.filter((line) => line.startsWith('RAW '))
    assert.deepEqual(said, ['RAW Operation not permitted', 'RAW Operation not permitted'], lines.join('\n'))
    assert.deepEqual(
      [...lines, ...victim.lines].filter((line) => /isolated/.test(line)),
      [],
    )
  })
})
