import assert from 'node:assert/strict'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { makeWeb, type TestApplication } from '../support/application.ts'
import { assertDeployedOnce, lastRequest } from '../support/deployment-facts.ts'
import { type PrivateEngine, whyNoPrivateEngine } from '../support/private-engine.ts'
import { startPrivateServer } from '../support/private-server.ts'
import { seeded } from '../support/seed.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'

// Everything is killed at once, including the containers, as in a power failure. After the next
// start everything recovers without help.

const rounds = 20
const skip = (await whyNoPrivateEngine()) ?? false
let engine: PrivateEngine
let server: ServerProcess
let close: (() => Promise<void>) | undefined
let application: TestApplication

before(async () => {
  if (skip) return
  ;({ engine, server, close } = await startPrivateServer())
  application = await makeWeb(server)
  await application.run(web('first'))
})
after(async () => {
  await application?.git.remove()
  await close?.()
})

/** Returns the processes whose command line or working directory is in one of these directories. */
async function processesOf(directories: readonly string[]): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(
    pids.map(async (pid) => {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      const place = await readlink(`/proc/${pid}/cwd`).catch(() => '')
      return directories.some((directory) => line.includes(directory) || place.startsWith(directory)) ? pid : undefined
    }),
  )
  return found.flatMap((pid) => (pid === undefined || pid === process.pid ? [] : [pid]))
}

/** Kills the server, the router, PostgreSQL, the engine, its containerd and all its containers. */
async function cutPower(): Promise<void> {
  const containers = await server.engine.containersWith(`quayside.instance=${server.instance}`)
  const states = await Promise.all(containers.map(({ Id }) => server.engine.ask('GET', `/containers/${Id}/json`)))
  const inside = states.map((state) => Number(Object(state).State?.Pid)).filter((pid) => pid > 0)
  const directory = engine.socketPath.replace(/\/[^/]+$/, '')
  const own = await processesOf([server.dataDirectory, directory])
  for (const pid of [...own, ...inside]) {
    if (await isTidying(pid)) continue
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process has already ended.
    }
  }
  await server.kill9()
  await engine.kill9()
}

/** The process that removes the test's remains must survive. */
const isTidying = async (pid: number): Promise<boolean> =>
  (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes('tidy-up.ts')

for (let round = 1; round <= rounds; round++) {
  test(`everything recovers after a power cut during a deployment (${round})`, { skip }, async (t) => {
    const wait = seeded(t, `cut ${round}`).below(2200) + 100
    const version = `after cut ${round}`
    await application.ship(web(version, { buildMs: 500 }))
    const request = await lastRequest(server, application)
    t.diagnostic(`cut after ${wait} ms`)
    // The exact moment is random on purpose.
    await clock.sleep(wait)
    await cutPower()
    await engine.start()
    await server.restart()
    // A version that was running before the cut is deployed already, and its replica has to start.
    await until('the application answers', async () => (await application.answer()).body === version, {
      limitMs: 120_000,
    })
    await assertDeployedOnce(server, application, { version, request, limitMs: 120_000 })
    const ends = await server.sql`
      select from event where payload_id = ${request} and type in ('DEPLOYMENT_SUCCESSFUL', 'DEPLOYMENT_FAILURE')`
    assert.equal(ends.length, 1)
    assert.deepEqual(await readdir(join(server.dataDirectory, 'checkouts', 'scratch')), [])
  })
}
