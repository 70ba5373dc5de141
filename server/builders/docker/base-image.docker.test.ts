import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDocker } from '../../../test/support/docker.ts'
import { baseImage, ensureBaseImage } from './base-image.ts'
import { engineForTests } from './engine-for-tests.ts'

const { socketPath, skip } = await engineForTests()
const docker = openDocker(socketPath)
const signal = AbortSignal.timeout(60_000)

/** Runs a program in a container without network and returns its output. */
async function runNode(program: string): Promise<string> {
  const container = await docker.createContainer({
    Image: baseImage,
    Cmd: ['node', '-e', program],
    User: 'node',
    Labels: { 'quayside.test': 'base-image' },
    HostConfig: { NetworkMode: 'none' },
  })
  try {
    await container.start()
    const exitCode = await container.wait()
    const printed = await container.output()
    assert.equal(exitCode, 0, printed)
    return printed
  } finally {
    await container.remove()
  }
}

test('ensureBaseImage makes an image in which this Node runs as an ordinary user', { skip }, async () => {
  assert.equal(await ensureBaseImage({ socketPath }, signal), 'quayside/node:24')
  const program = `
    const { constants } = require('fs')
    require('fs').accessSync('/tmp', constants.W_OK)
    require('tls').rootCertificates.length
    console.log(JSON.stringify([process.version, process.getuid(), require('os').userInfo().username]))`
  assert.deepEqual(JSON.parse(await runNode(program)), [process.version, 1000, 'node'])
})

test('ensureBaseImage makes the image once', { skip }, async () => {
  await ensureBaseImage({ socketPath }, signal)
  const { Id } = await docker.inspectImage(baseImage)
  await ensureBaseImage({ socketPath }, signal)
  assert.equal((await docker.inspectImage(baseImage)).Id, Id)
})
