import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { openDocker } from '../../../test/support/docker.ts'
import { systemClock } from '../../lib/clock.ts'
import { recipeOf, recording, tarOf } from '../builder.cases.ts'
import { ensureBaseImage } from './base-image.ts'
import { createDockerBuilder } from './docker-builder.ts'
import { engineForTests } from './engine-for-tests.ts'
import { createTestBuildKit } from './test-own-buildkit.ts'

const { socketPath, skip } = await engineForTests()
const docker = openDocker(socketPath)
const example = new URL('../../../examples/hello/', import.meta.url)

test('the example is built, answers requests, and ends on a signal', { skip }, async () => {
  const signal = AbortSignal.timeout(60_000)
  await ensureBaseImage({ socketPath }, signal)
  const buildKit = createTestBuildKit(socketPath)
  const builder = createDockerBuilder({ socketPath, buildKit })
  const dockerfileText = await readFile(new URL('Dockerfile', example), 'utf8')
  const source = tarOf({
    Dockerfile: dockerfileText,
    'server.js': await readFile(new URL('server.js', example), 'utf8'),
  })
  const service = `test-hello-${process.pid}`
  const recipe = recipeOf(service, dockerfileText, { variables: { VERSION: '2.5' } })
  const { reference } = await builder.build(source, recipe, recording().attempt)
  const container = await docker.createContainer({
    Image: reference,
    Env: ['MESSAGE=Hello <tests>'],
    Labels: { 'quayside.test': 'hello' },
  })
  try {
    await container.start()
    const address = await container.address('bridge')
    const page = await answerOf(`http://${address}:8080/`)
    assert.match(page, /<h1>Hello &lt;tests&gt;<\/h1>/)
    assert.deepEqual(JSON.parse(await answerOf(`http://${address}:8080/json`)), {
      message: 'Hello <tests>',
      version: '2.5',
    })
    assert.equal(await answerOf(`http://${address}:8080/health`), 'ok\n')
    assert.equal(await container.stop(10), 0)
    assert.match(
      await container.output(),
      /listening on port 8080, version 2\.5\n[\s\S]*GET \/json 200\n[\s\S]*SIGTERM: closing\n$/,
    )
  } finally {
    await container.remove()
    await builder.prune(service, [], signal)
    await buildKit.remove()
  }
})

/** Returns the body of the answer once the application listens. */
async function answerOf(url: string): Promise<string> {
  for (const end = systemClock.monotonic() + 10_000; ; await systemClock.sleep(20)) {
    try {
      return await (await fetch(url)).text()
    } catch (error) {
      if (systemClock.monotonic() > end) throw error
    }
  }
}
