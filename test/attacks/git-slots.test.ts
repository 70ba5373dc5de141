import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { createPlatform } from '../support/platform.ts'
import { rawRequest, sendRaw } from '../support/raw.ts'
import { until } from '../support/until.ts'

const open: Socket[] = []
// Runs before the server ends, which waits for its connections.
after(() => {
  for (const socket of open) socket.destroy()
})

/**
 * The git host runs one program for each call. No caller may hold so many that others are refused.
 */
const platform = await createPlatform({ after })
const { a, b } = platform
const origin = await platform.listen()
await Promise.all([platform.addRepository(a), platform.addRepository(b)])

const basic = (token: string): string => `Authorization: Basic ${Buffer.from(`git:${token}`).toString('base64')}`
const advertise = async (token: string): Promise<number> => {
  const line = 'GET /git/hello.git/info/refs?service=git-upload-pack'
  const answer = await fetch(`${origin}${line.slice(4)}`, { headers: { authorization: basic(token).slice(15) } })
  await answer.text()
  return answer.status
}

/** Opens POSTs whose bodies never end. Collects the refusals. */
function openSlowPosts(count: number, token: string, service: string): { sockets: Socket[]; refusals: string[] } {
  const { hostname, port } = new URL(origin)
  const refusals: string[] = []
  const headers = [basic(token), `Content-Type: application/x-${service}-request`, 'Content-Length: 1000']
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${rawRequest(`POST /git/hello.git/${service}`, headers)}0`),
    )
    socket.on('error', () => {})
    socket.on('data', (bytes) => String(bytes).includes(' 503 ') && refusals.push(String(bytes)))
    return socket
  })
  open.push(...sockets)
  return { sockets, refusals }
}

test('forty slow POSTs of a READ token leave the git host open for all others', async () => {
  const { sockets, refusals } = openSlowPosts(40, a.tokens.READ, 'git-upload-pack')
  await until('the POSTs beyond the limit are refused', () => refusals.length >= 8)
  assert.match(refusals[0] ?? '', /^HTTP\/1\.1 503 [\s\S]*retry-after: 5[\s\S]*This token or/i)
  assert.equal(await advertise(b.tokens.READ), 200, 'another organization')
  assert.equal(await advertise(a.tokens.ADMIN), 200, 'another token of the same organization')
  for (const socket of sockets) socket.destroy()
  await until('the slots are free again', async () => (await advertise(a.tokens.READ)) === 200)
})

test('slow POSTs of all tokens of an organization leave the git host open for another organization', async () => {
  const { READ, DEPLOY, WRITE, ADMIN } = a.tokens
  const opened = [READ, DEPLOY, WRITE, ADMIN].map((token) => openSlowPosts(40, token, 'git-upload-pack'))
  await until('each token has refusals', () => opened.every(({ refusals }) => refusals.length >= 8))
  assert.equal(await advertise(b.tokens.READ), 200)
  for (const { sockets } of opened) for (const socket of sockets) socket.destroy()
  await until('the slots are free again', async () => (await advertise(READ)) === 200)
})

test('a push with a READ token is refused before its body, and its connection is closed', async () => {
  const headers = [basic(a.tokens.READ), 'Content-Type: application/x-git-receive-pack-request', 'Content-Length: 1000']
  const answer = await sendRaw(origin, `${rawRequest('POST /git/hello.git/git-receive-pack', headers)}0`)
  assert.deepEqual(answer.statuses, [403])
  assert.ok(answer.isClosed, 'the connection is still open for the body')
})
