import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'

const platform = await createPlatform({ after })
const get = (path: string) => platform.call(undefined, 'GET', path)

test('the page and everything that it loads come from this server', async () => {
  const page = await get('/docs')
  assert.equal(page.status, 200)
  const loaded = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '')
  assert.ok(loaded.length >= 4)
  for (const path of loaded.filter((one) => !one.startsWith('data:'))) {
    assert.match(path, /^\//)
    const answer = await get(path)
    assert.equal(answer.status, 200, path)
    assert.notEqual(answer.text, '')
  }
})

test('the policy blocks other servers, and only this page may run scripts', async () => {
  const { headers } = await get('/docs')
  const policy = String(headers['content-security-policy'])
  assert.match(policy, /script-src 'self';/)
  assert.match(policy, /connect-src 'self';/)
  assert.ok(!/https?:/.test(policy))
  assert.doesNotMatch(String((await get('/openapi.json')).headers['content-security-policy']), /script-src/)
})

test('the page loads a document that also describes WebSockets', async () => {
  assert.match((await get('/docs/start.js')).text, /url: '\/docs\/openapi.json'/)
  const { paths } = Object((await get('/docs/openapi.json')).body)
  assert.ok(paths['/service/logs'].get)
  assert.equal(Object((await get('/openapi.json')).body).paths['/service/logs'], undefined)
})
