import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { giveUpReleases } from '../releases/release-store.ts'

/** Rollbacks to the version of an earlier execution. */
const platform = await createPlatform({ after }, { works: true })
const { a, b, builder, call, database, engine } = platform
const { environmentId, applicationId } = a.objects
const path = `/application/${applicationId}`

const send = async (method: string, at: string, body?: object) => {
  const answer = await call(a.tokens.ADMIN, method, at, body, { 'x-state-dialect': 'full' })
  return { status: answer.status, body: Object(answer.body), text: answer.text }
}
/** Runs an action, waits for its end, and returns its execution. */
async function run(action: string, body?: object, of = path): Promise<string> {
  const answer = await send('POST', `${of}/${action}`, body)
  assert.equal(answer.status, 202, answer.text)
  return until(`${action} has ended`, async () => {
    const [row] = await database<{ execution_id: string }[]>`
      select execution_id from deployment_request where id = ${answer.body.id} and finished_at is not null`
    return row?.execution_id
  })
}
const inside = async (key: string): Promise<string> => {
  const { output } = await engine.exec(applicationId, ['printenv', key], AbortSignal.timeout(60_000))
  return output.trim()
}
const status = async () => (await send('GET', `${path}/status`)).body
const setVariable = async (value: string) => {
  const { results } = (await send('GET', `${path}/environmentVariable`)).body
  const id = results.find((one: { key: string }) => one.key === 'COLOUR')?.id
  const at = `${path}/environmentVariable`
  const answer = await send(id ? 'PUT' : 'POST', id ? `${at}/${id}` : at, { key: 'COLOUR', value })
  assert.ok(answer.status < 300, answer.text)
}

await platform.addRepository(a, 'one')
await setVariable('red')
await send('POST', `${path}/secret`, { key: 'PASSWORD', value: 'first secret' })
await send('PUT', path, { memory: 256 })
const first = await run('deploy', {})
const [{ digest } = {}] =
  await database`select image->>'digest' as digest from release where service_id = ${applicationId}`
await platform.addRepository(a, 'two')
await setVariable('blue')
await send('PUT', path, { memory: 512 })
const second = await run('deploy', {})

test('a dry run reports what a rollback would change, and changes nothing', async () => {
  const { status: code, body } = await send('POST', `${path}/rollback?dry_run=true`, { execution_id: first })
  assert.equal(code, 200)
  assert.deepEqual(body.changed_settings, ['memory'])
  const [service] = body.services
  assert.deepEqual(
    [service.effect, service.changed_variables],
    ['RESTART', ['COLOUR', 'QOVERY_COMMIT_ID', 'QOVERY_SERVICE_VERSION']],
  )
  assert.equal((await send('GET', path)).body.memory, 512)
})

test('a rollback runs the image, settings, variables and secrets of its version without a build', async () => {
  const built: string[] = []
  const build = builder.build
  Object.assign(builder, {
    build: async (...order: Parameters<typeof build>) => {
      built.push('a build')
      return build(...order)
    },
  })
  const answer = await send('POST', `${path}/rollback`, { execution_id: first })
  assert.equal(answer.status, 202, answer.text)
  assert.match(answer.body.note, /variables and secrets are not changed/)
  await until('it is done', async () => ((await status()).deployment_request_id === null ? true : undefined))
  Object.assign(builder, { build })
  assert.deepEqual(built, [])
  assert.deepEqual([await inside('COLOUR'), await inside('PASSWORD')], ['red', 'first secret'])
  assert.equal((await send('GET', path)).body.memory, 256)
  const [release] = await database`
    select r.image->>'digest' as digest, r.settings->'memory' as memory from release r join service s
    on s.release_id = r.id`
  assert.deepEqual([release?.['digest'], release?.['memory']], [digest, 256])
  const now = await status()
  assert.deepEqual([now.state, now.service_deployment_status], ['DEPLOYED', 'OUT_OF_DATE'])
  const { results } = (await send('GET', `${path}/deploymentHistoryV2`)).body
  assert.deepEqual([results[0].status, results[0].status_details.action], ['DEPLOYED', 'DEPLOY'])
  const history = (await send('GET', `/environment/${environmentId}/deploymentHistoryV2`)).body.results
  assert.deepEqual([history[0].trigger_action, history[0].action_status], ['DEPLOY', 'SUCCESS'])
  const { text } = await send('GET', `/environment/${environmentId}/logs`)
  assert.match(text, /Rolling back to the version of /)
  assert.ok(!text.includes('first secret'))
})

test('a service is up to date after a rollback when its variables match that version', async () => {
  await setVariable('red')
  await run('rollback', { execution_id: first })
  assert.equal((await status()).service_deployment_status, 'UP_TO_DATE')
})

test('the next deployment keeps the settings that a rollback restored', async () => {
  await run('deploy', {})
  assert.equal((await send('GET', path)).body.memory, 256)
  const [row] =
    await database`select r.settings->'memory' as memory from release r join service s on s.release_id = r.id`
  assert.equal(row?.['memory'], 256)
})

test('a rollback is rejected with the reason when its version does not exist or is no longer kept', async () => {
  const refused = async (execution_id: string, of = path, token = a.tokens.ADMIN) => {
    const answer = await call(token, 'POST', `${of}/rollback`, { execution_id })
    return [answer.status, String(Object(answer.body).message)] as const
  }
  const [code, message] = await refused('nothing-1')
  assert.equal(code, 400)
  assert.match(message, /^execution_id: /)
  assert.equal((await refused(first, `/application/${b.objects.applicationId}`, b.tokens.ADMIN))[0], 400)
  assert.equal((await refused(first, `/application/${b.objects.applicationId}`))[0], 404)
  const stopped = await run('stop')
  assert.deepEqual((await refused(stopped))[0], 409)
  await run('deploy', {})
  builder.tell(applicationId, { type: 'fail' })
  await platform.addRepository(a, 'three')
  const failed = await run('deploy', {})
  const [failedCode, failedMessage] = await refused(failed)
  assert.equal(failedCode, 409)
  assert.match(failedMessage, /brought up no version \(ERROR\)/)
  await giveUpReleases(database, 1)
  const [gone, why] = await refused(second)
  assert.equal(gone, 404)
  assert.match(why, /no longer kept/)
})

test('pruning removes secrets, variables and images of old releases, except the running one', async () => {
  const rows = await database<{ is_kept: boolean; sealed: boolean; runs: boolean; image: boolean }[]>`
    select r.is_kept, r.sealed_variables is not null as sealed, r.image is not null as image, s.release_id = r.id as
    runs
    from release r join service s on s.id = r.service_id where s.id = ${applicationId}`
  const running = rows.find(({ runs }) => runs)
  assert.deepEqual([running?.is_kept, running?.sealed, running?.image], [true, true, true])
  const left = rows.filter(({ is_kept }) => !is_kept)
  assert.ok(left.length >= 1)
  assert.ok(left.every(({ sealed, image }) => !sealed && !image))
  assert.equal((await send('GET', `/environment/${environmentId}/deploymentHistory`)).status, 200)
})

test('a rollback is rejected before anything changes when its settings cannot be restored', async () => {
  const { containerId = '' } = (await platform.addObjects(a)).more
  const of = `/container/${containerId}`
  const storage = (size: number) => ({ storage: [{ type: 'FAST_SSD', size, mount_point: '/data' }] })
  await send('PUT', of, storage(1))
  const execution = await run('deploy', {}, of)
  const { storage: stored } = (await send('GET', of)).body
  await send('PUT', of, { storage: [{ ...stored[0], size: 5 }] })
  const answer = await send('POST', `${of}/rollback`, { execution_id: execution })
  assert.equal(answer.status, 409, answer.text)
  assert.match(answer.body.message, /cannot be restored/)
})
