import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { engineAddress, isRunning, pingEngine, writeEngineSettings } from './docker.mjs'

const directory = await mkdtemp(join(tmpdir(), 'quayside-bootstrap-'))
after(() => rm(directory, { recursive: true }))

test('engineAddress accepts every form of QUAYSIDE_DOCKER_HOST', () => {
  assert.deepEqual(engineAddress(undefined), { socketPath: '/var/run/docker.sock' })
  assert.deepEqual(engineAddress(''), { socketPath: '/var/run/docker.sock' })
  assert.deepEqual(engineAddress('unix:///run/x.sock'), { socketPath: '/run/x.sock' })
  assert.deepEqual(engineAddress('/run/x.sock'), { socketPath: '/run/x.sock' })
  assert.deepEqual(engineAddress('tcp://10.0.0.1:1234'), { host: '10.0.0.1', port: 1234 })
  assert.deepEqual(engineAddress('tcp://engine'), { host: 'engine', port: 2375 })
})

test('pingEngine reports whether an engine answers', async () => {
  const socketPath = join(directory, 'docker.sock')
  assert.equal(await pingEngine({ socketPath }), 'silent')
  let status = 200
  const engine = createServer((request, response) => {
    response.statusCode = request.url === '/_ping' ? status : 404
    response.end('OK')
  }).listen(socketPath)
  await once(engine, 'listening')
  assert.equal(await pingEngine({ socketPath }), 'answers')
  status = 500
  assert.equal(await pingEngine({ socketPath }), 'silent')
  engine.close()
  engine.closeAllConnections()
})

test('isRunning returns false for a zombie and for another program with the same pid', () => {
  assert.ok(isRunning('2952 (dockerd) S 1 2950 2950 0', 'dockerd'))
  assert.ok(!isRunning('2952 (dockerd) Z 1 2950 2950 0', 'dockerd'))
  assert.ok(!isRunning('2952 (nginx (x) S) S 1 2950', 'dockerd'))
  assert.ok(!isRunning('', 'dockerd'))
})

test('writeEngineSettings writes settings only when the engine has none', async () => {
  const path = join(directory, 'docker', 'daemon.json')
  writeEngineSettings(path)
  assert.equal(JSON.parse(await readFile(path, 'utf8'))['live-restore'], true)
  await writeFile(path, '{"mine": 1}')
  writeEngineSettings(path)
  assert.equal(await readFile(path, 'utf8'), '{"mine": 1}')
})
