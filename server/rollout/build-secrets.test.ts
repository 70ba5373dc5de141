import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'

const platform = await createPlatform({ after }, { works: true })
const { a, call, builder } = platform
await platform.addRepository(a)
const { applicationId } = a.objects
const path = `/application/${applicationId}`
const canary = 'CANARY-of-the-build'

const must = async (method: string, at: string, sent?: object) => {
  const answer = await call(a.tokens.ADMIN, method, at, sent, { 'x-state-dialect': 'full' })
  assert.ok(answer.status < 300, `${method} ${at}: ${answer.status} ${answer.text}`)
  return Object(answer.body)
}
async function deploy() {
  await must('POST', `${path}/deploy`, {})
  return until('the deployment has ended', async () => {
    const status = await must('GET', `${path}/status`)
    return status.deployment_request_id === null ? status : undefined
  })
}
const nameSecrets = (...keys: string[]) => must('PUT', `${path}/advancedSettings`, { 'build.secrets': keys })

test('a build gets the secrets that are named, and is reused until a value changes', async () => {
  const { id } = await must('POST', `${path}/secret`, { key: 'BUILD_TOKEN', value: canary })
  await must('POST', `${path}/secret`, { key: 'UNNAMED', value: 'CANARY-unnamed' })
  await nameSecrets('BUILD_TOKEN')
  assert.equal((await deploy()).state, 'DEPLOYED')
  const { secrets = {} } = builder.recipes.at(-1) ?? {}
  assert.deepEqual(Object.keys(secrets), ['BUILD_TOKEN'])
  assert.equal(secrets['BUILD_TOKEN']?.reveal(), canary)
  assert.equal((await deploy()).state, 'DEPLOYED')
  assert.equal(builder.built.length, 1, 'the same commit, recipe and secrets are not built twice')
  await must('PUT', `${path}/secret/${id}`, { key: 'BUILD_TOKEN', value: `${canary}-2` })
  assert.equal((await deploy()).state, 'DEPLOYED')
  assert.equal(builder.built.length, 2, 'another value needs another image')
  await must('PUT', `${path}/secret/${id}`, { key: 'BUILD_TOKEN', value: canary })
  assert.equal((await deploy()).state, 'DEPLOYED')
  assert.equal(builder.built.length, 2, 'the first image is found again')
  assert.ok(!JSON.stringify([builder.built, builder.recipes, platform.logged]).includes(canary))
})

test('a build gets no secrets without the setting', async () => {
  await nameSecrets()
  assert.equal((await deploy()).state, 'DEPLOYED')
  assert.deepEqual(builder.recipes.at(-1)?.secrets, undefined)
})

test('a build fails and reports the name when it is not a secret', async () => {
  await nameSecrets('NOT_THERE')
  const missing = await deploy()
  assert.equal(missing.state, 'BUILD_ERROR')
  assert.match(missing.reason, /^The advanced setting build\.secrets names "NOT_THERE", and the service has no secret/)
  await must('POST', `${path}/environmentVariable`, { key: 'PLAIN', value: 'seen by all' })
  await nameSecrets('PLAIN')
  assert.match((await deploy()).reason, /"PLAIN", which is a variable, not a secret\. Declare it as ARG/)
  for (const wrong of [['a b'], ['x\n'], 'X', [1], ['']]) {
    const answer = await call(a.tokens.ADMIN, 'PUT', `${path}/advancedSettings`, { 'build.secrets': wrong })
    assert.equal(answer.status, 400)
    assert.match(answer.text, /build\.secrets/)
  }
})
