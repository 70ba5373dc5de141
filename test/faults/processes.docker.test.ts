import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { findPostmaster } from '../../server/database/postmaster.ts'
import { findRouter } from '../../server/routers/own/find-router.ts'
import { assertDeployedOnce, lastRequest } from '../support/deployment-facts.ts'
import { startTraffic } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { now, until } from '../support/until.ts'
import { startWebServer } from '../support/web-server.ts'

// Any single process may be killed. Acknowledged work is kept, running services continue, and
// everything recovers without help.

const { server, application } = await startWebServer({ after }, web('first'))

const answers = (version: string): Promise<true> =>
  until(`"${version}" is answered`, async () => {
    const answer = await application.answer().catch(() => undefined)
    return answer?.status === 200 && answer.body === version
  })

test('requests to an application succeed while the server is killed and restarted', async (t) => {
  const traffic = startTraffic(application.url, 100)
  t.after(() => traffic.stop())
  await traffic.sends(50)
  await server.kill9()
  await traffic.sends(200)
  await server.restart()
  await traffic.sends(200)
  const { lost, slowestMs } = await traffic.stop()
  assert.deepEqual(lost, [])
  assert.ok(slowestMs < 10_000, `slowest ${slowestMs} ms`)
})

test('a container that was removed by hand is created again and gets traffic', async () => {
  const labels = `quayside.service=${application.id}`
  const [former] = await server.engine.containersWith(labels)
  await server.engine.ask('DELETE', `/containers/${former?.Id}?force=true`)
  const began = now()
  await answers('first')
  assert.ok(now() - began < 40_000, `took ${now() - began} ms`)
  const present = await server.engine.containersWith(labels)
  assert.equal(present.length, 1)
  assert.notEqual(present[0]?.Id, former?.Id)
  await application.reaches(['RUNNING'])
})

test('a router that is killed restarts with its routes', async () => {
  const controlSocket = join(server.dataDirectory, 'router', 'control.sock')
  const former = (await findRouter({ controlSocket })) ?? assert.fail('no router runs')
  process.kill(former.pid, 'SIGKILL')
  await until('another router runs', async () => {
    const found = await findRouter({ controlSocket }).catch(() => undefined)
    return found && found.pid !== former.pid
  })
  await answers('first')
})

test('a router that is killed while the server is down restarts with the server', async () => {
  const controlSocket = join(server.dataDirectory, 'router', 'control.sock')
  await server.kill9()
  const former = (await findRouter({ controlSocket })) ?? assert.fail('no router runs')
  process.kill(former.pid, 'SIGKILL')
  await server.restart()
  await answers('first')
})

test('PostgreSQL killed under load gives 503, loses no acknowledged write, and a deployment continues', async () => {
  const path = `/application/${application.id}/environmentVariable`
  const acknowledged: string[] = []
  const refused: string[] = []
  const over = new AbortController()
  let healedAt: number | undefined
  let slowestMs = 0
  const write = async (worker: number): Promise<void> => {
    for (let n = 0; !over.signal.aborted; n++) {
      const key = `KEY_${worker}_${n}`
      const began = now()
      const { status, body } = await server.api('POST', path, { key, value: 'text' })
      slowestMs = Math.max(slowestMs, now() - began)
      if (status === 201) acknowledged.push(key)
      else refused.push(`${status} ${JSON.stringify(body)}`)
      if (status === 201 && refused.length > 0) healedAt ??= now()
    }
  }
  const workers = [0, 1, 2, 3].map(write)
  await until('writes are acknowledged', () => acknowledged.length > 100)
  await application.ship(web('survivor', { buildMs: 2000 }))
  await application.reaches(['BUILDING'])

  const cluster = join(server.dataDirectory, 'postgresql', 'cluster')
  const postmaster = (await findPostmaster(cluster)) ?? assert.fail('PostgreSQL does not run')
  process.kill(postmaster.pid, 'SIGKILL')
  const killedAt = now()
  await until('writes are refused', () => refused.length > 0)
  const healed = await until('writes are acknowledged again', () => healedAt)
  const count = acknowledged.length
  await until('many more are acknowledged', () => acknowledged.length > count + 100)
  over.abort()
  await Promise.all(workers)

  assert.ok(healed - killedAt < 30_000, `healed after ${healed - killedAt} ms`)
  assert.ok(slowestMs < 15_000, `slowest ${slowestMs} ms`)
  const logged = (): string => server.output.filter((line) => line.includes('a request failed')).join('\n')
  for (const answer of refused) assert.match(answer, /^503 .*try again/i, `${answer}\n${logged()}`)
  const { results } = await server.must<{ results: { key: string }[] }>('GET', path)
  const stored = new Set(results.map(({ key }) => key))
  assert.deepEqual(
    acknowledged.filter((key) => !stored.has(key)),
    [],
  )
  const request = await lastRequest(server, application)
  await assertDeployedOnce(server, application, { version: 'survivor', request })
})
