import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { openDocker } from '../../../test/support/docker.ts'
import { Secret } from '../../lib/secret.ts'
import { contextOf, recipeOf, recording } from '../builder.cases.ts'
import { ensureBaseImage } from './base-image.ts'
import { createDockerBuilder } from './docker-builder.ts'
import { engineForTests } from './engine-for-tests.ts'
import { createTestBuildKit, whyNoOwnBuildKit } from './test-own-buildkit.ts'

const { socketPath, skip: noEngine } = await engineForTests()
const skip = await whyNoOwnBuildKit(socketPath, noEngine)
const docker = openDocker(socketPath)
const buildKit = createTestBuildKit(socketPath)
const builder = createDockerBuilder({ socketPath, buildKit })
const service = `test-secrets-${process.pid}`
const canary = `CANARY-${randomBytes(12).toString('hex')}`
const signal = AbortSignal.timeout(100_000)
before(async () => {
  if (!skip) await ensureBaseImage({ socketPath }, signal)
})
after(() => (skip ? undefined : buildKit.remove()))

/** A program that shows that it has the secret without printing it, and runs for a while. */
const program = `const fs = require('fs'), read = (name) => fs.readFileSync('/run/secrets/' + name);
console.log('got', require('crypto').createHash('sha256').update(read('TOKEN')).digest('hex'), fs.existsSync('/run/secrets/OTHER'), 'TOKEN' in process.env);
fs.writeFileSync('/marker', 'MARKER-' + require('crypto').createHash('sha256').update('of ' + read('TOKEN')).digest('hex'));
setTimeout(() => {}, 1500)`
const mounts = '--mount=type=secret,id=TOKEN --mount=type=secret,id=OTHER'
const step = JSON.stringify(['/usr/local/bin/node', '-e', `/* ${process.pid} */ ${program}`])
const dockerfile =
  `FROM quayside/node:24\nRUN ${mounts} ${step}\nRUN ["/usr/local/bin/node","-e","console.log('later', ` +
  `fs.existsSync('/run/secrets/TOKEN'))"]\n`

test('a build secret reaches the steps that mount it and nothing else, during the build and afterwards', {
  skip,
}, async () => {
  const recipe = recipeOf(service, dockerfile, { secrets: { TOKEN: new Secret(canary) }, secretsHash: 'one' })
  const { attempt, lines, line } = recording()
  let isBuilding = true
  const building = builder.build(contextOf(recipe), recipe, attempt).finally(() => {
    isBuilding = false
  })
  building.catch(() => {})
  const hash = createHash('sha256').update(canary).digest('hex')
  await line(`got ${hash} false false`)
  assert.deepEqual(await processesThatTell(canary), [])
  assert.ok(isBuilding, 'processes were looked at while the step ran')
  const { reference } = await building
  try {
    assert.ok(lines.includes('later false'), lines.join('\n'))
    assert.ok(!lines.join('\n').includes(canary), 'the log')
    assert.ok(!JSON.stringify(await docker.historyOf(reference)).includes(canary), 'the history')
    assert.ok(!JSON.stringify(await docker.inspectImage(reference)).includes(canary), 'the configuration')
    // What the step derived from the secret is in a file of one layer only. Finding it proves that
    // the search reads layers.
    const marker = `MARKER-${createHash('sha256').update(`of ${canary}`).digest('hex')}`
    assert.deepEqual(await heldBy(await docker.archiveOf(reference), [marker, canary]), [marker], 'the layers')
    assert.deepEqual(await processesThatTell(canary), [])
  } finally {
    await builder.prune(service, [], signal)
  }
})

/** Returns the texts that occur in the bytes of a stream, even across chunks. */
async function heldBy(stream: AsyncIterable<Buffer>, texts: readonly string[]): Promise<string[]> {
  const found = new Set<string>()
  const longest = Math.max(...texts.map(({ length }) => length))
  let tail: Buffer = Buffer.alloc(0)
  for await (const piece of stream) {
    const bytes = Buffer.concat([tail, piece])
    for (const text of texts) if (bytes.includes(text)) found.add(text)
    tail = Buffer.from(bytes.subarray(-longest))
  }
  return [...found]
}

/** Returns the processes whose arguments or environment contain the text. */
async function processesThatTell(text: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.flatMap((pid) =>
      ['cmdline', 'environ'].map(async (file) => {
        const bytes = await readFile(`/proc/${pid}/${file}`).catch(() => Buffer.alloc(0))
        return bytes.includes(text) ? `/proc/${pid}/${file}` : undefined
      }),
    ),
  )
  return found.filter((path) => path !== undefined)
}
