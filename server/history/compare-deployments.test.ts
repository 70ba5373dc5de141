import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { changedSettings } from './compare-deployments.ts'

/** The difference between two versions of a service. */
const platform = await createPlatform({ after }, { works: true })
const { a, b, call, database } = platform
const path = `/application/${a.objects.applicationId}`

const send = async (method: string, at: string, body?: object) => {
  const answer = await call(a.tokens.ADMIN, method, at, body)
  assert.ok(answer.status < 300, answer.text)
  return Object(answer.body)
}
/** Runs an action, waits for its end, and returns its execution. */
async function run(action: string): Promise<string> {
  const { id } = await send('POST', `${path}/${action}`, action === 'deploy' ? {} : undefined)
  return until(`${action} has ended`, async () => {
    const [row] = await database<{ execution_id: string }[]>`
      select execution_id from deployment_request where id = ${id} and finished_at is not null`
    return row?.execution_id
  })
}
const compare = (from: string, to: string, service = a.objects.applicationId) =>
  call(a.tokens.READ, 'GET', `/service/${service}/deploymentComparison?from=${from}&to=${to}`)

await platform.addRepository(a, 'one')
await send('POST', `${path}/environmentVariable`, { key: 'COLOUR', value: 'red' })
await send('POST', `${path}/secret`, { key: 'PASSWORD', value: 'first secret' })
await send('PUT', path, { memory: 256 })
const first = await run('deploy')
await platform.addRepository(a, 'two')
const { results } = await send('GET', `${path}/secret`)
const password = results.find(({ key }: { key: string }) => key === 'PASSWORD')
await send('PUT', `${path}/secret/${password.id}`, { key: 'PASSWORD', value: 'second secret' })
await send('PUT', path, { memory: 512, auto_preview: true })
const second = await run('deploy')

test('two versions differ by commit, image, settings with their values, and names of variables', async () => {
  const { status, text, body } = await compare(first, second)
  assert.equal(status, 200, text)
  const { from, to, changed_settings, changed_variables } = Object(body)
  assert.notEqual(from.commit.git_commit_id, to.commit.git_commit_id)
  assert.notEqual(from.image, to.image)
  assert.deepEqual([from.execution_id, from.is_kept, to.is_kept], [first, true, true])
  assert.deepEqual(
    changed_settings.filter(({ name }: { name: string }) => name === 'memory'),
    [{ name: 'memory', from: '256', to: '512' }],
  )
  assert.ok(changed_variables.includes('PASSWORD'), text)
  assert.ok(!changed_variables.includes('COLOUR'), text)
  assert.doesNotMatch(text, /first secret|second secret/)
})

test('a version equals itself', async () => {
  const { body } = await compare(first, first)
  assert.deepEqual([Object(body).changed_settings, Object(body).changed_variables], [[], []])
})

test('executions of other services and executions that started nothing are rejected with the reason', async () => {
  const stopped = await run('stop')
  const { status, body } = await compare(first, stopped)
  assert.deepEqual(
    [status, Object(body).message],
    [409, `to: execution ${stopped} was a STOP that started no version.`],
  )
  const unknown = await compare('nothing-1', second)
  assert.equal(unknown.status, 400)
  assert.match(Object(unknown.body).message, /^from: /)
  assert.equal((await compare(first, second, b.objects.applicationId)).status, 404)
})

test('a version that is no longer kept has no variables to compare', async () => {
  await database`update release set is_kept = false where service_id = ${a.objects.applicationId}
    and request_id in (select id from deployment_request where execution_id = ${first})`
  const { from, changed_variables, changed_settings } = Object((await compare(first, second)).body)
  assert.deepEqual([from.is_kept, changed_variables], [false, null])
  assert.ok(changed_settings.length > 0)
})

test('a setting has its values if they are short, and its name in any case', () => {
  const before = { a: { 'b.c': 1 }, list: [1], text: 'x'.repeat(300) }
  const later = { a: { 'b.c': 2 }, list: [2], text: '' }
  assert.deepEqual(changedSettings(before, later), [
    { name: 'a.b.c', from: '1', to: '2' },
    { name: 'list', from: null, to: null },
    { name: 'text', from: null, to: '' },
  ])
})
