import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'

/** Secrets of a service, including files, appear in no line, whichever version prints them. */
const platform = await createPlatform({ after }, { works: true })
const { a, call, engine } = platform
const { containerId = '' } = (await platform.addObjects(a)).more
const path = `/container/${containerId}`

const send = async (method: string, at: string, body?: object) => {
  const answer = await call(a.tokens.ADMIN, method, at, body, { 'x-state-dialect': 'full' })
  assert.ok(answer.status < 300, answer.text)
  return Object(answer.body)
}
const deployed = async (image_tag: string) => {
  await send('POST', `${path}/deploy`, { image_tag })
  return until('it is at rest', async () => {
    const status = await send('GET', `${path}/status`)
    return status.deployment_request_id === null && status.status_details.status !== 'NEVER' ? status : undefined
  })
}
const printed = async (last: string): Promise<string> => {
  engine.print(containerId, last)
  return until(`"${last}" is stored`, async () => {
    const { text } = await call(a.tokens.READ, 'GET', `${path}/log`)
    return text.includes(last) ? text : undefined
  })
}

test('secrets of the running version and of a failed one are hidden, in values and in files', async () => {
  const variable = await send('POST', `${path}/secret`, { key: 'TOKEN', value: 'former-token-canary' })
  const file = await send('POST', `${path}/secret`, {
    key: 'KEY_FILE',
    value: 'begin\nformer-file-canary\nend',
    mount_path: '/srv/key',
  })
  assert.equal((await deployed('good')).state, 'DEPLOYED')
  engine.print(containerId, 'former-token-canary and former-file-canary')
  assert.doesNotMatch(await printed('first round'), /canary/)

  await send('PUT', `${path}/secret/${variable.id}`, { key: 'TOKEN', value: 'next-token-canary' })
  await send('PUT', `${path}/secret/${file.id}`, { key: 'KEY_FILE', value: 'begin\nnext-file-canary\nend' })
  engine.behave('docker.io/library/hello:bad', {
    outcome: 'crashes',
    lines: ['next-token-canary, next-file-canary, former-file-canary'],
  })
  const { state, reason } = await deployed('bad')
  assert.equal(state, 'DEPLOYMENT_ERROR')
  assert.match(reason, /\*{6}/)
  assert.doesNotMatch(reason, /next-\w+-canary/)

  engine.print(containerId, 'still former-token-canary and former-file-canary')
  assert.doesNotMatch(await printed('second round'), /canary/)
  const { text } = await call(a.tokens.READ, 'GET', `${path}/deploymentHistoryV2`)
  assert.doesNotMatch(text, /next-\w+-canary/)
})
