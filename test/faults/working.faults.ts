import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { makeApplication, makeEnvironment, makeWeb, type TestApplication } from '../support/application.ts'
import { assertDeployedOnce, lastRequest } from '../support/deployment-facts.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { startTraffic } from '../support/traffic.ts'
import { crashing, web } from '../support/trees.ts'
import { until } from '../support/until.ts'

// A server that is killed in the middle of long work: the work is taken up, or ended, and nothing of it stays behind.

let server: ServerProcess
let environmentId: string
let application: TestApplication

before(async () => {
  server = await startServer()
  application = await makeWeb(server)
  environmentId = application.environmentId
  await application.run(web('first'))
})
after(async () => {
  await application?.git.remove()
  await server?.close()
})

/** Command lines of all processes that hold the text. */
async function processesWith(text: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return lines.filter((line) => line.includes(text))
}

test('a server killed while git waits for a repository leaves no program and no directory of it behind', async (t) => {
  const deaf = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
  t.after(() => void deaf.close())
  await new Promise((resolve) => deaf.once('listening', resolve))
  const address = deaf.address()
  const place = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  const { id } = await server.must<{ id: string }>('POST', `/environment/${environmentId}/application`, {
    name: 'deaf',
    git_repository: { url: `http://${place}/nobody.git`, branch: 'main' },
  })
  await server.must('POST', `/application/${id}/deploy`, {})
  await until('git asks', async () => (await processesWith(place)).length > 0)
  await server.kill9()
  await server.must('DELETE', `/application/${id}`).catch(() => {})
  await server.restart()
  await server.must('POST', `/environment/${environmentId}/cancelDeployment`, {})
  const { state } = await until('it is at rest', async () => {
    const status = await server.must<{ state: string; deployment_request_id: string | null }>(
      'GET',
      `/application/${id}/status`,
    )
    return status.deployment_request_id === null && status
  })
  assert.equal(state, 'CANCELED')
  await until('git is gone', async () => (await processesWith(place)).length === 0, { limitMs: 60_000 })
  assert.deepEqual(await readdir(join(server.dataDirectory, 'checkouts', 'scratch')), [])
})

test('a server killed while an image is built ends the deployment with one image and one container', async () => {
  await application.ship(web('built', { buildMs: 4000 }))
  await application.reaches(['BUILDING'])
  const request = await lastRequest(server, application)
  await until('the build runs', async () => (await processesWith('setTimeout(() => {}, 4000)')).length > 0)
  await server.restart()
  await assertDeployedOnce(server, application, { version: 'built', request })
  await until('no build runs any more', async () => (await processesWith('setTimeout(() => {}, 4000)')).length === 0)
})

test('a server killed again and again while a version fails leaves the former one serving, and says why once', async (t) => {
  await application.run(web('good'))
  const traffic = startTraffic(application.url, 50)
  t.after(() => traffic.stop())
  await application.ship(crashing('it cannot work'))
  const request = await lastRequest(server, application)
  for (let kill = 0; kill < 6; kill++) {
    await server.restart({ ready: false })
    // The moment itself is what is tried.
    await clock.sleep(600 + kill * 250)
    await server.kill9()
  }
  await server.restart()
  const { state, reason } = await application.settles(90_000)
  assert.equal(state, 'ERROR')
  assert.match(reason ?? '', /it cannot work/)
  assert.deepEqual(await application.answer(), { status: 200, body: 'good' })
  const containers = await server.engine.containersWith(`quayside.service=${application.id}`)
  assert.deepEqual(
    containers.map((container) => container.State),
    ['running'],
  )
  const ends = await server.sql`select from event where payload_id = ${request} and type = 'DEPLOYMENT_FAILURE'`
  assert.equal(ends.length, 1)
  assert.deepEqual((await traffic.stop()).lost, [])
})

test('a server killed while an environment of fifty services is deleted deletes it to the end', async () => {
  const doomed = await makeEnvironment(server, 'doomed')
  const applications = await Promise.all(
    Array.from({ length: 6 }, (_, n) =>
      makeApplication(server, { environmentId: doomed, name: `doomed-${n}`, settings: { memory: 64, cpu: 100 } }),
    ),
  )
  await Promise.all(applications.map((one) => one.git.push(web('doomed'))))
  await server.must('POST', `/environment/${doomed}/deploy`, {})
  await Promise.all(applications.map((one) => one.reaches(['RUNNING'], 90_000)))
  // Fifty in all: the others have never run.
  for (let n = applications.length; n < 50; n++) {
    const git_repository = { url: applications[0]?.git.url, branch: 'main' }
    await server.must('POST', `/environment/${doomed}/application`, { name: `idle-${n}`, git_repository })
  }
  await server.must('DELETE', `/environment/${doomed}`)
  for (let kill = 0; kill < 3; kill++) {
    await server.restart({ ready: false })
    // The moment itself is what is tried.
    await clock.sleep(900 + kill * 300)
    await server.kill9()
  }
  await server.restart()
  await until(
    'the environment is gone',
    async () => (await server.api('GET', `/environment/${doomed}`)).status === 404,
    {
      limitMs: 60_000,
    },
  )
  assert.equal((await server.sql`select from service where environment_id = ${doomed}`).length, 0)
  for (const { id, git } of applications) {
    assert.equal((await server.api('GET', `/application/${id}`)).status, 404)
    assert.deepEqual(await server.engine.containersWith(`quayside.service=${id}`), [])
    await git.remove()
  }
  assert.deepEqual(await server.engine.networksWith(`quayside.environment=${doomed}`), [])
})
