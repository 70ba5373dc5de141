import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { before, test } from 'node:test'
import { openDocker } from '../../../test/support/docker.ts'
import { Secret } from '../../lib/secret.ts'
import { contextOf, recipeOf, recording } from '../builder.cases.ts'
import { ensureBaseImage } from './base-image.ts'
import { createDockerBuilder } from './docker-builder.ts'
import { engineForTests } from './engine-for-tests.ts'

const { socketPath, skip } = await engineForTests()
const docker = openDocker(socketPath)
const builder = createDockerBuilder({ socketPath })
const service = `test-secrets-${process.pid}`
const canary = `CANARY-${randomBytes(12).toString('hex')}`
const signal = AbortSignal.timeout(100_000)
before(async () => {
  if (!skip) await ensureBaseImage({ socketPath }, signal)
})

/** Tells that it has the secret without telling it, and takes its time. */
const program = `const fs = require('fs'), read = (name) => fs.readFileSync('/run/secrets/' + name);
console.log('got', require('crypto').createHash('sha256').update(read('TOKEN')).digest('hex'), fs.existsSync('/run/secrets/OTHER'), 'TOKEN' in process.env);
fs.writeFileSync('/marker', 'MARKER-' + require('crypto').createHash('sha256').update('of ' + read('TOKEN')).digest('hex'));
setTimeout(() => {}, 1500)`
const mounts = '--mount=type=secret,id=TOKEN --mount=type=secret,id=OTHER'
const step = JSON.stringify(['/usr/local/bin/node', '-e', `/* ${process.pid} */ ${program}`])
const dockerfile =
  `FROM quayside/node:24\nRUN ${mounts} ${step}\nRUN ["/usr/local/bin/node","-e","console.log('later', ` +
  `fs.existsSync('/run/secrets/TOKEN'))"]\n`

test('a secret reaches the steps that mount it, and is nowhere else, neither meanwhile nor afterwards', {
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
    // What a step made out of the secret stands in a file of a layer and nowhere else: it shows
    // that the search sees into layers.
    const marker = `MARKER-${createHash('sha256').update(`of ${canary}`).digest('hex')}`
    assert.deepEqual(await heldBy(await docker.archiveOf(reference), [marker, canary]), [marker], 'the layers')
    assert.deepEqual(await processesThatTell(canary), [])
  } finally {
    await builder.prune(service, [], signal)
  }
})

/** Those of the texts that the bytes of a stream hold, also across its pieces. */
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

/** Processes whose arguments or environment hold the text. */
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
