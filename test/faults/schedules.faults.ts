import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { startWebServer } from '../support/web-server.ts'

// A server that is killed after a deployment rule decided makes the same request once after its
// next start.

const { server, application } = await startWebServer({ after }, web('first'))
const { environmentId } = application

const asked = async () => {
  const rows = await server.sql<{ action: string }[]>`
    select action from deployment_request where environment_id = ${environmentId} and origin = 'QOVERY_INTERNAL'
    order by seq`
  return rows.map(({ action }) => action)
}
const followed = async () => {
  const rows = await server.sql`
    select from environment_schedule s join environment_deployment_rule r using (environment_id)
    where environment_id = ${environmentId} and s.rule_version = r.version`
  return rows.length === 1
}
const state = async () =>
  (await server.sql<{ state: string }[]>`select state from service where id = ${application.id}`)[0]?.state
const days = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY']

for (const point of ['schedule.asked', 'request.committed'] as const) {
  for (const [weekdays, action, end] of [
    [[], 'STOP', 'STOPPED'],
    [days, 'DEPLOY', 'DEPLOYED'],
  ] as const) {
    test(`a server killed at ${point} requests ${action} once`, async () => {
      const before = await asked()
      await server.restart({ failpoint: `${point}:kill` })
      const rule = await server.must<{ id: string }>('GET', `/environment/${environmentId}/deploymentRule`)
      const time = '1970-01-01T00:00:00Z'
      const change = { auto_stop: true, timezone: 'UTC', start_time: time, stop_time: time, weekdays }
      await server.must('PUT', `/environment/${environmentId}/deploymentRule/${rule.id}`, change)
      assert.equal((await server.exited()).signal, 'SIGKILL', `${point} was not reached`)
      await server.restart()
      await until('the rule is followed', followed)
      await until(`the service is ${end}`, async () => (await state()) === end, { limitMs: 60_000 })
      assert.deepEqual(await asked(), [...before, action])
    })
  }
}
