import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

const platform = await createPlatform({ after }, { works: true, settings: { QUAYSIDE_PARALLEL_BUILDS: '1' } })
const { a, builder, call, database } = platform
const timeoutSeconds = 3

/** Returns when the build began and ended, by PostgreSQL's clock. */
async function buildOf(service: string) {
  const [row] = await database<{ status: string | null; started_at: Date; finished_at: Date | null }[]>`
    select status, started_at, finished_at from workflow_step where name = ${`${service}/BUILD`}`
  return row
}

test('a build that never ends is stopped at its limit, and the next one begins within five seconds', async () => {
  const [hanging, next] = [a.objects, await platform.addObjects(a)].map(({ applicationId }) => applicationId)
  assert.ok(hanging && next)
  await platform.addRepository(a)
  const settings = `/application/${hanging}/advancedSettings`
  const { body } = await call(a.tokens.ADMIN, 'GET', settings)
  const changed = { ...Object(body), 'build.timeout_max_sec': timeoutSeconds }
  assert.equal((await call(a.tokens.ADMIN, 'PUT', settings, changed)).status, 201)
  // A different build, because a second request for the same build takes no slot in the queue.
  const stage = await call(a.tokens.ADMIN, 'PUT', `/application/${next}`, { docker_target_build_stage: 'next' })
  assert.equal(stage.status, 200, stage.text)
  builder.tell(hanging, { type: 'hang' })
  const deploy = async (service: string): Promise<void> => {
    const { status, text } = await call(a.tokens.DEPLOY, 'POST', `/application/${service}/deploy`, {})
    assert.equal(status, 202, text)
  }
  await deploy(hanging)
  await until('it builds', () => buildOf(hanging))
  await deploy(next)
  await until('the next build waits', async () => {
    const rows = await database`select from workflow_step where name = ${`${next}/BUILD_QUEUEING`}`
    return rows.length === 1
  })
  const built = await until('the next build has ended', async () => {
    const build = await buildOf(next)
    return build?.finished_at ? build : undefined
  })
  const stopped = await buildOf(hanging)
  assert.ok(stopped?.finished_at)
  assert.deepEqual([stopped.status, built.status], ['ERROR', 'SUCCESS'])
  const [tookMs, waitedMs] = [
    stopped.finished_at.getTime() - stopped.started_at.getTime(),
    built.started_at.getTime() - stopped.finished_at.getTime(),
  ]
  assert.ok(tookMs >= timeoutSeconds * 1000 && tookMs < timeoutSeconds * 1000 + 5_000, `stopped after ${tookMs} ms`)
  assert.ok(waitedMs >= 0 && waitedMs < 5_000, `began ${waitedMs} ms later`)
})
