import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { readTable } from '../domains/route-table-store.ts'

/** The router's logins come from the variables of the version that has the traffic. */
const platform = await createPlatform({ after }, { works: true })
const { a, call, database, engine } = platform
await platform.addRepository(a)

const send = async (method: string, at: string, body?: object) => {
  const answer = await call(a.tokens.ADMIN, method, at, body, { 'x-state-dialect': 'full' })
  assert.ok(answer.status < 300, answer.text)
  return Object(answer.body)
}
const { id: environmentId } = await send('POST', `/project/${a.objects.projectId}/environment`, { name: 'guarded' })
const { id } = await send('POST', `/environment/${environmentId}/application`, {
  name: 'web',
  git_repository: { url: 'http://localhost:3000/git/hello.git', branch: 'main' },
  ports: [{ internal_port: 8080, external_port: 443, publicly_accessible: true, protocol: 'HTTP', name: 'web' }],
})
const path = `/application/${id}`
const setting = 'network.ingress.basic_auth_env_var'

async function run(action: string, body?: object): Promise<{ id: string; made: number; state: string; log: string }> {
  const before = engine.effects.created
  const asked = await send('POST', `${path}/${action}`, body)
  await until(`${action} has ended`, async () => {
    const [row] = await database`select from deployment_request where id = ${asked.id} and finished_at is not null`
    return row
  })
  const { state } = await send('GET', `${path}/status`)
  const { text } = await call(a.tokens.READ, 'GET', `/environment/${environmentId}/logs`)
  return { id: asked.id, made: engine.effects.created - before, state, log: text }
}
const deploy = () => run('deploy', {})
/** Returns the logins in the router's table. */
const letIn = async () => {
  const routes = (await readTable(database)).routes.filter(({ service }) => service === id)
  assert.ok(routes.length > 0)
  return routes.map(({ rules }) => rules?.basicAuth?.map(({ login }) => login).join() ?? 'everybody').join(' ')
}

test('a deployment applies the logins of the variable, and they do not change before it', async () => {
  await deploy()
  const { id: secret } = await send('POST', `${path}/secret`, { key: 'WHO', value: 'ann:open sesame,ben:b' })
  await send('PUT', `${path}/advancedSettings`, { [setting]: 'WHO', 'network.ingress.enable_sticky_session': true })
  assert.equal(await letIn(), 'everybody')
  const first = await deploy()
  assert.deepEqual([first.state, await letIn()], ['DEPLOYED', 'ann,ben'])
  assert.equal((await readTable(database)).routes.find(({ service }) => service === id)?.rules?.sticky, true)
  const again = await deploy()
  assert.deepEqual([again.made, again.state, await letIn()], [0, 'DEPLOYED', 'ann,ben'])

  await send('PUT', `${path}/secret/${secret}`, { key: 'WHO', value: 'cy:other' })
  assert.equal(await letIn(), 'ann,ben')
  assert.deepEqual([(await deploy()).made, await letIn()], [1, 'cy'])
  await run('restart-service')
  assert.equal(await letIn(), 'cy')
  const kept = await database`select basic_auth::text || variables::text as text from release where service_id = ${id}`
  assert.ok(kept.length > 0 && kept.every(({ text }) => !String(text).includes('sesame')))
  assert.ok(!platform.logged.join().includes('sesame'))
})

test('a deployment fails and no login changes when the variable is missing, empty or invalid', async () => {
  await send('PUT', `${path}/advancedSettings`, { [setting]: 'NOBODY' })
  const missing = await deploy()
  assert.equal(missing.state, 'DEPLOYMENT_ERROR')
  assert.match(missing.log, /network\.ingress\.basic_auth_env_var: there is no variable NOBODY\./)
  await send('POST', `${path}/environmentVariable`, { key: 'NOBODY', value: '' })
  assert.match((await deploy()).log, /network\.ingress\.basic_auth_env_var: the variable NOBODY is empty\./)
  assert.equal(await letIn(), 'cy')
})

test('a list with a login twice is rejected as a variable, and fails a deployment that finds it', async () => {
  const refused = async (method: string, at: string, value: string) => {
    const answer = await call(a.tokens.ADMIN, method, at, { key: 'NOBODY', value })
    assert.equal(answer.status, 400)
    assert.match(Object(answer.body).detail, /^value: the router takes logins from NOBODY, .* in pair 1 and pair 3\./)
  }
  const [row] = await database`select id from variable where key = 'NOBODY' and service_id = ${id}`
  await refused('PUT', `${path}/environmentVariable/${row?.['id']}`, 'ann:one,ben:two,ann:three')
  for (const at of [`/environment/${environmentId}`, `/project/${a.objects.projectId}`]) {
    await refused('POST', `${at}/environmentVariable`, 'ann:one,ben:two,ann:three')
    await refused('POST', `${at}/secret`, 'ann:one\nben:two\nann:three')
  }
  await send('POST', `${path}/environmentVariable`, { key: 'TWICE', value: 'ann:one,ann:two' })
  await send('PUT', `${path}/advancedSettings`, { [setting]: 'TWICE' })
  const again = await deploy()
  assert.equal(again.state, 'DEPLOYMENT_ERROR')
  assert.match(again.log, /the variable TWICE has the same login in pair 1 and pair 2\./)
  assert.equal(await letIn(), 'cy')
})

test('the setting alone changes the version, and a rollback restores the logins of its version', async () => {
  const [former] = await database`
    select q.execution_id as execution from release r join deployment_request q on q.id = r.request_id
    where r.service_id = ${id} and r.served_at is not null order by r.created_at desc limit 1`
  await send('PUT', `${path}/advancedSettings`, {})
  assert.equal(await letIn(), 'cy')
  const open = await deploy()
  assert.match(open.log, /Changed since the running version: [^"]*network\.ingress\.basic_auth_env_var/)
  assert.deepEqual([open.state, await letIn()], ['DEPLOYED', 'everybody'])
  assert.equal((await send('GET', `${path}/status`)).service_deployment_status, 'UP_TO_DATE')
  assert.equal((await run('rollback', { execution_id: former?.['execution'] })).state, 'DEPLOYED')
  assert.equal(await letIn(), 'cy')
})
