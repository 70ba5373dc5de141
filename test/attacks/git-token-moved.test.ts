import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { assertError } from '../contract/requests.ts'
import { createPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

/**
 * A git token that moves to another address leaves services behind whose repository it is not for.
 * Their repositories are not contacted, with the token or without it.
 */
const settings = { QUAYSIDE_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' }
const platform = await createPlatform({ after }, { works: true, settings })
const { a, call } = platform
let contacts = 0
const server = createServer((_, answer) => {
  contacts++
  answer.writeHead(404).end()
}).listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
after(() => {
  server.closeAllConnections()
  server.close()
})
// The address of a TCP server is never a path.
const place = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const send = async (method: string, path: string, body?: object) => {
  const answer = await call(a.tokens.ADMIN, method, path, body, { 'x-state-dialect': 'full' })
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
  return Object(answer.body)
}

const token = { name: 'moves', type: 'GITHUB', token: 'ghp_0123456789' }
const tokens = `/organization/${a.organizationId}/gitToken`
const { id: tokenId } = await send('POST', tokens, { ...token, git_api_url: place })
const { id } = await send('POST', `/environment/${a.objects.environmentId}/application`, {
  name: 'left-behind',
  git_repository: { url: `${place}/shop.git`, branch: 'main', provider: 'GITHUB', git_token_id: tokenId },
})
await send('PUT', `${tokens}/${tokenId}`, { ...token, git_api_url: 'https://git.example.org' })
contacts = 0
const reason = /git token of the service is for another host, scheme or port than the repository "http:/

test('a request that names a commit is refused with the reason', async () => {
  const answer = await call(a.tokens.ADMIN, 'POST', `/application/${id}/deploy`, { git_commit_id: 'abcdef1' })
  assertError(answer, 409)
  assert.match(answer.body.message, reason)
  assert.equal(contacts, 0)
})

test('a deployment ends as a failed build with the reason, and no contact is made', async () => {
  const { deployment_request_id: requestId } = await send('POST', `/application/${id}/deploy`, {})
  assert.ok(requestId)
  await until('the deployment ended', async () => {
    const now = await send('GET', `/application/${id}/status`)
    return now.deployment_request_id === null && now.deployment_requests_count === 0 && now
  })
  const [row] = await platform.database<{ state: string; reason: string }[]>`
    select state, reason from deployment_target where service_id = ${id}`
  assert.equal(row?.state, 'BUILD_ERROR')
  assert.match(row?.reason ?? '', reason)
  assert.equal(contacts, 0)
})
