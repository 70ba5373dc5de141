import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { makeApplication, makeEnvironment } from '../support/application.ts'
import { assertDeployedOnce, lastRequest, nothingWorks } from '../support/deployment-facts.ts'
import { startTraffic } from '../support/traffic.ts'
import { crashing, web } from '../support/trees.ts'
import { now, until } from '../support/until.ts'
import { startWebServer } from '../support/web-server.ts'

// A server is killed during long work. The work is resumed or ended, and nothing of it is left
// behind.

const { server, application } = await startWebServer({ after }, web('first'))
const { environmentId } = application

/** Returns the processes whose command line contains the text. */
async function processesWith(text: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  const lines = pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''))
  return (await Promise.all(lines)).flatMap((line, at) => (line.includes(text) ? [Number(pids[at])] : []))
}

test('a server killed while git waits for a repository leaves no process and no directory, and retries', async (t) => {
  let asked = 0
  const deaf = createServer((socket) => {
    asked++
    socket.on('error', () => {})
  }).listen(0, '127.0.0.1')
  t.after(() => void deaf.close())
  await new Promise((resolve) => deaf.once('listening', resolve))
  const address = deaf.address()
  const place = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  const { id } = await server.must<{ id: string }>('POST', `/environment/${environmentId}/application`, {
    name: 'deaf',
    git_repository: { url: `http://${place}/nobody.git`, branch: 'main' },
  })
  await server.must('POST', `/application/${id}/deploy`, {})
  await until('git asks', () => asked > 0)
  const askedAt = now()
  const former = await processesWith(place)
  assert.notEqual(former.length, 0)
  const before = asked
  await server.kill9()
  await server.restart()
  const left = async (): Promise<number[]> => (await processesWith(place)).filter((pid) => former.includes(pid))
  await until('the previous git has ended', async () => (await left()).length === 0, { limitMs: 15_000, seen: left })
  // Git ends by itself after 30 s without data.
  assert.ok(now() - askedAt < 25_000, 'git may have ended by itself')
  await until('git asks again', () => asked > before)
  await server.must('POST', `/environment/${environmentId}/cancelDeployment`, {})
  const { state } = await until('the service is settled', async () => {
    const status = await server.must<{ state: string; deployment_request_id: string | null }>(
      'GET',
      `/application/${id}/status`,
    )
    return status.deployment_request_id === null && status
  })
  assert.equal(state, 'CANCELED')
  await until('git has ended', async () => (await processesWith(place)).length === 0, { limitMs: 10_000 })
  assert.deepEqual(await readdir(join(server.dataDirectory, 'checkouts', 'scratch')), [])
})

/** Counts such processes repeatedly. Returns the largest number at a time. */
function countAtOnce(text: string): { stop(): Promise<number> } {
  const over = new AbortController()
  const counting = (async () => {
    let most = 0
    while (!over.signal.aborted) {
      most = Math.max(most, (await processesWith(text)).length)
      await clock.sleep(50, over.signal).catch(() => {})
    }
    return most
  })()
  return {
    stop: () => {
      over.abort()
      return counting
    },
  }
}

/** Where steps see their secrets. */
const secretMounts = async (): Promise<string[]> =>
  (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').filter((line) => line.includes('buildkit-secrets'))

test('a server killed while an image is built completes the deployment with one image and one container', async () => {
  await nothingWorks(server)
  const images = async (): Promise<string[]> => (await server.engine.imagesOf(application.id)).map(({ Id }) => Id)
  const former = await images()
  await server.must('POST', `/application/${application.id}/secret`, { key: 'TOKEN', value: 'not to be kept' })
  await server.must('PUT', `/application/${application.id}/advancedSettings`, { 'build.secrets': ['TOKEN'] })
  // The step takes long, so a step that is gone within seconds has not ended by itself.
  const buildMs = 60_000
  const step = `setTimeout(() => {}, ${buildMs})`
  const tree = web('built', { buildMs })
  const mount = '--mount=type=secret,id=TOKEN'
  await application.ship({ ...tree, Dockerfile: String(tree['Dockerfile']).replace('RUN ', `RUN ${mount} `) })
  await application.reaches(['BUILDING'])
  const request = await lastRequest(server, application)
  const began = now()
  await until('the build runs', async () => (await processesWith(step)).length === 1)
  assert.notEqual((await secretMounts()).length, 0)
  await server.kill9()
  await until('its step has ended', async () => (await processesWith(step)).length === 0, { limitMs: 15_000 })
  await until('its secret is gone', async () => (await secretMounts()).length === 0, {
    limitMs: 15_000,
    seen: secretMounts,
  })
  assert.ok(now() - began < buildMs / 2, 'the step may have ended by itself')
  assert.deepEqual(await images(), former)
  const steps = countAtOnce(step)
  await server.restart()
  await assertDeployedOnce(server, application, { version: 'built', request, limitMs: 150_000 })
  assert.equal(await steps.stop(), 1)
  assert.deepEqual(await processesWith(step), [])
  assert.equal((await images()).filter((id) => !former.includes(id)).length, 1)
})

async function isKilled(when: string): Promise<void> {
  let signal: string | null | undefined
  void server.exited().then((exit) => {
    signal = exit.signal
  })
  await until(`the server is killed ${when}`, () => signal !== undefined, { seen: () => server.output.slice(-10) })
  assert.equal(signal, 'SIGKILL')
}

test('a server killed repeatedly while a version fails keeps the previous one serving and reports the reason once', async (t) => {
  await application.run(web('good'))
  const label = `quayside.service=${application.id}`
  const traffic = startTraffic(application.url, 50)
  t.after(() => traffic.stop())
  const former = (await server.engine.containersWith(label)).map(({ Id }) => Id)
  await nothingWorks(server)
  await server.restart({ failpoint: 'engine.created:kill' })
  await application.ship(crashing('it cannot work'))
  await isKilled('when the container of the version is made')
  const request = await lastRequest(server, application)
  const isOpen = async (): Promise<boolean> =>
    (await server.sql`select from workflow where id = ${request} and state in ('queued', 'running')`).length === 1
  await server.restart({ ready: false, failpoint: 'engine.started:kill' })
  await isKilled('when the version is started')
  assert.ok(await isOpen())
  await server.restart({ ready: false })
  await until('the version has ended by itself', async () => {
    const [made] = (await server.engine.containersWith(label)).filter(({ Id }) => !former.includes(Id))
    return made && Object(await server.engine.ask('GET', `/containers/${made.Id}/json`)).RestartCount > 0
  })
  await server.kill9()
  assert.ok(await isOpen())
  await server.restart({ ready: false })
  const takingBack = () =>
    server.sql`select from workflow_step where workflow_id = ${request} and name like '%/ROLLBACK'`
  await until('its rollback has begun', async () => (await takingBack()).length === 1, { everyMs: 2 })
  await server.kill9()
  await server.restart()
  const { state, reason } = await application.settles(90_000)
  assert.equal(state, 'ERROR')
  assert.match(reason ?? '', /it cannot work/)
  assert.deepEqual(await application.answer(), { status: 200, body: 'good' })
  const containers = await server.engine.containersWith(label)
  assert.deepEqual(
    containers.map((container) => container.State),
    ['running'],
  )
  const ends = await server.sql`select from event where payload_id = ${request} and type = 'DEPLOYMENT_FAILURE'`
  assert.equal(ends.length, 1)
  assert.deepEqual((await traffic.stop()).lost, [])
})

test('a server killed while it deletes an environment of fifty services completes the deletion', async () => {
  const doomed = await makeEnvironment(server, 'doomed')
  const applications = await Promise.all(
    Array.from({ length: 6 }, (_, n) =>
      makeApplication(server, { environmentId: doomed, name: `doomed-${n}`, settings: { memory: 64, cpu: 100 } }),
    ),
  )
  await Promise.all(applications.map((one) => one.git.push(web('doomed'))))
  await server.must('POST', `/environment/${doomed}/deploy`, {})
  await Promise.all(applications.map((one) => one.reaches(['RUNNING'], 90_000)))
  // Fifty services in all. The others have never run.
  for (let n = applications.length; n < 50; n++) {
    const git_repository = { url: applications[0]?.git.url, branch: 'main' }
    await server.must('POST', `/environment/${doomed}/application`, { name: `idle-${n}`, git_repository })
  }
  for (const { id } of applications) assert.equal((await server.engine.imagesOf(id)).length, 1)
  await nothingWorks(server)
  const containers = () => server.engine.containersWith(`quayside.environment=${doomed}`)
  await server.restart({ failpoint: 'retire.stopped:kill' })
  await server.must('DELETE', `/environment/${doomed}`)
  for (let kill = 0; kill < 3; kill++) {
    await isKilled('while containers end')
    assert.notEqual((await containers()).length, 0, 'all containers had already ended')
    const again = kill < 2 ? { failpoint: 'retire.stopped:kill', ready: false } : {}
    await server.restart(again)
  }
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
    assert.deepEqual(await server.engine.imagesOf(id), [])
    await git.remove()
  }
  assert.deepEqual(await server.engine.networksWith(`quayside.environment=${doomed}`), [])
})
