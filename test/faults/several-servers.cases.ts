import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { makeWeb, type TestApplication } from '../support/application.ts'
import { assertToldOnce } from '../support/deployment-facts.ts'
import { seeded } from '../support/seed.ts'
import { type ServerGroup, startServerGroup } from '../support/server-group.ts'
import { startTraffic } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../support/webhook-receiver.ts'

/**
 * Three servers on one database and one data directory. Clients ask all of them in turn, and
 * servers are killed with -9 at random moments.
 */
export function testSeveralServers({ rounds }: { readonly rounds: number }): void {
  let group: ServerGroup
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  let application: TestApplication

  const opened = new AsyncDisposableStack()
  after(() => opened.disposeAsync())
  before(async () => {
    group = await startServerGroup({ after: (work) => opened.defer(work) }, 3)
    receiver = await startReceiver()
    opened.defer(async () => receiver.close())
    await group.server.must('POST', `/organization/${group.server.organizationId}/webhook`, {
      target_url: receiver.url,
      events: ['DEPLOYMENT_STARTED', 'DEPLOYMENT_SUCCESSFUL', 'DEPLOYMENT_FAILURE', 'DEPLOYMENT_CANCELLED'],
    })
    application = await makeWeb(group.server)
    opened.defer(async () => void (await application.git.remove()))
    await application.run(web('first'))
  })

  test('one of them does the work, and all of them answer and show its lines', async () => {
    const { members, server } = group
    const holders = await server.sql<{ owner: string }[]>`select owner from duty`
    assert.equal(holders.length, 1)
    const organizations = await server.sql`select id from organization`
    assert.equal(organizations.length, 1, 'the first start happened once')
    for (const member of members) {
      const { status, body } = await member.api<{ results: unknown[] }>('GET', `/application/${application.id}/log`)
      assert.equal(status, 200, member.name)
      assert.ok(body.results.length > 0, `${member.name} shows lines`)
    }
  })

  test(`deployments and writes are kept although servers are killed ${rounds} times`, async (t) => {
    const random = seeded(t)
    const { members, server } = group
    const traffic = startTraffic(application.url, 20)
    t.after(() => traffic.stop())
    const written: string[] = []
    const write = async (): Promise<void> => {
      const name = `KEPT_${written.length}`
      // A server that is killed before it answers has acknowledged nothing.
      const reply = await server
        .api('POST', `/application/${application.id}/environmentVariable`, { key: name, value: 'x' })
        .catch(() => undefined)
      if (reply?.status === 201) written.push(name)
    }
    for (let round = 1; round <= rounds; round++) {
      await application.ship(web(`round ${round}`))
      await write()
      // The moment is random on purpose.
      await clock.sleep(random.below(2_000))
      const victim = members[random.below(members.length)]
      await victim?.kill9()
      await write()
      await until('another one does the work', async () => (await working(server.sql)) === 1, { limitMs: 30_000 })
      await victim?.begin()
    }
    await until('the last version answers', async () => (await application.answer()).body.includes(`round ${rounds}`), {
      limitMs: 60_000,
    })
    assert.equal((await application.settles(60_000)).state, 'RUNNING')
    const { lost } = await traffic.stop()
    assert.deepEqual(lost, [])
    const { results } = await server.must<{ results: { key: string }[] }>(
      'GET',
      `/application/${application.id}/environmentVariable`,
    )
    const kept = new Set(results.map(({ key }) => key))
    assert.deepEqual(
      written.filter((name) => !kept.has(name)),
      [],
    )
    const requests = await server.sql<{ id: string }[]>`
      select request_id as id from deployment_target where service_id = ${application.id} order by service_seq`
    assert.ok(requests.length > rounds)
    await assertToldOnce(
      requests.map(({ id }) => id),
      receiver.deliveries,
    )
  })
}

/** Returns the number of leases of the work that are valid. */
async function working(sql: ServerGroup['server']['sql']): Promise<number> {
  return (await sql`select from duty where until > clock_timestamp()`).length
}
