import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { openGitRemote } from '../../test/support/git-remote.ts'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'

/**
 * Whether records report a repository as readable. A gate in front of a real git server allows or
 * refuses requests.
 */
const settings = { QUAYSIDE_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' }
const platform = await createPlatform({ after }, { works: true, settings })
const { a, b, call, database } = platform
const origin = await platform.listen()
type Tenant = typeof a

const remote = await openGitRemote({ url: `${origin}/git/outside.git`, token: a.tokens.WRITE })
after(() => remote.remove())
await remote.push({ Dockerfile: 'FROM scratch\n' })

/** A git server whose answers the test controls. */
async function openGate() {
  const gate = { answer: 'allow' as 'allow' | 'cut' | number, url: '', calls: 0 }
  const authorization = `Basic ${Buffer.from(`any:${a.tokens.WRITE}`).toString('base64')}`
  const server = createServer((incoming, outgoing) => {
    gate.calls++
    if (gate.answer === 'cut') return void incoming.destroy()
    if (gate.answer !== 'allow') return void outgoing.writeHead(gate.answer).end()
    const headers = { ...incoming.headers, authorization }
    const path = (incoming.url ?? '').replace(/^\/[^/]+/, '/git')
    const forwarded = request(`${origin}${path}`, { method: incoming.method ?? 'GET', headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(outgoing)
    })
    incoming.pipe(forwarded)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  // The address of a TCP server is never a path.
  gate.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/gate/outside.git`
  return gate
}

const sendAs = async (tenant: Tenant, method: string, path: string, body?: object) => {
  const answer = await call(tenant.tokens.ADMIN, method, path, body, { 'x-state-dialect': 'full' })
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
  return Object(answer.body)
}
const send = (method: string, path: string, body?: object) => sendAs(a, method, path, body)

async function addApplication(tenant: Tenant, url: string, git: object = {}): Promise<string> {
  const environment = await sendAs(tenant, 'POST', `/project/${tenant.objects.projectId}/environment`, {
    name: `e-${randomUUID()}`,
  })
  const { id } = await sendAs(tenant, 'POST', `/environment/${environment.id}/application`, {
    name: `s${randomUUID().slice(0, 8)}`,
    git_repository: { url, branch: 'main', ...git },
  })
  return id
}

const accessOf = async (id: string, tenant: Tenant = a): Promise<boolean> =>
  (await sendAs(tenant, 'GET', `/application/${id}`)).git_repository.has_access

/** Deploys, waits for the end and returns the state. */
async function deploy(id: string): Promise<string> {
  await send('POST', `/application/${id}/deploy`, {})
  const status = await until(`${id} is at rest`, async () => {
    const now = await send('GET', `/application/${id}/status`)
    return now.deployment_request_id === null && now.deployment_requests_count === 0 && now
  })
  return status.state
}

const addToken = async (token: string, git_api_url: string): Promise<string> => {
  const body = { name: `t-${randomUUID()}`, type: 'GITHUB', token, git_api_url }
  return (await send('POST', `/organization/${a.organizationId}/gitToken`, body)).id
}

test('deployments turn has_access from false to true, false and true again', async () => {
  const gate = await openGate()
  const id = await addApplication(a, gate.url)
  assert.equal(await accessOf(id), false)
  assert.equal(gate.calls, 0)
  await deploy(id)
  assert.equal(await accessOf(id), true)
  for (const refusal of [401, 404]) {
    gate.answer = refusal
    assert.match(await deploy(id), /ERROR/)
    assert.equal(await accessOf(id), false, `after ${refusal}`)
    gate.answer = 'allow'
    await deploy(id)
    assert.equal(await accessOf(id), true, `again after ${refusal}`)
  }
})

test('access is unchanged when the server breaks off or fails', async () => {
  const gate = await openGate()
  const id = await addApplication(a, gate.url)
  await deploy(id)
  for (const answer of ['cut', 500, 503] as const) {
    gate.answer = answer
    await deploy(id)
    assert.equal(await accessOf(id), true, String(answer))
  }
})

test('browsing a repository refreshes the access of all its services', async () => {
  const gate = await openGate()
  const ids = [await addApplication(a, gate.url), await addApplication(a, gate.url.replace('.git', '/'))]
  const look = () =>
    call(a.tokens.ADMIN, 'POST', `/organization/${a.organizationId}/listDirectoriesFromGitRepository`, {
      url: gate.url,
      branch: 'main',
      provider: 'GITHUB',
    })
  assert.equal((await look()).status, 200)
  assert.deepEqual(await Promise.all(ids.map((id) => accessOf(id))), [true, true])
  gate.answer = 404
  await look()
  assert.deepEqual(await Promise.all(ids.map((id) => accessOf(id))), [false, false])
})

test('access is unchanged by a contact of another organization', async () => {
  const gate = await openGate()
  const mine = await addApplication(a, gate.url)
  const theirs = await addApplication(b, gate.url)
  await deploy(mine)
  assert.deepEqual([await accessOf(mine), await accessOf(theirs, b)], [true, false])
  gate.answer = 404
  await sendAs(b, 'POST', `/application/${theirs}/deploy`, {})
  await until('the other organization was refused', async () => {
    const [row] = await database`
      select from repository_access where organization_id = ${b.organizationId} and not has_access`
    return row
  })
  assert.deepEqual([await accessOf(mine), await accessOf(theirs, b)], [true, false])
})

test('access becomes unknown until the next contact when a git token gets a new value, but not a new name', async () => {
  const gate = await openGate()
  const tokenId = await addToken('first', new URL(gate.url).origin)
  const id = await addApplication(a, gate.url, { git_token_id: tokenId })
  const change = (name: string, token?: string) =>
    send('PUT', `/organization/${a.organizationId}/gitToken/${tokenId}`, {
      name,
      type: 'GITHUB',
      git_api_url: new URL(gate.url).origin,
      ...(token && { token }),
    })
  await deploy(id)
  assert.equal(await accessOf(id), true)
  await change(`n-${randomUUID()}`)
  assert.equal(await accessOf(id), true)
  await change(`n-${randomUUID()}`, 'second')
  assert.equal(await accessOf(id), false)
  await deploy(id)
  assert.equal(await accessOf(id), true)
})

test('a contact without the git token does not affect a service that uses one', async () => {
  const gate = await openGate()
  const tokenId = await addToken('value', new URL(gate.url).origin)
  const open = await addApplication(a, gate.url)
  const withToken = await addApplication(a, gate.url, { git_token_id: tokenId })
  await deploy(open)
  assert.deepEqual([await accessOf(open), await accessOf(withToken)], [true, false])
})

test('a push to the built-in git host makes its repository readable', async () => {
  const name = `r${randomUUID().slice(0, 8)}`
  const id = await addApplication(a, `http://localhost:3000/git/${name}.git`)
  const same = await addApplication(a, `https://other.example/git/${name}.git`)
  assert.equal(await accessOf(id), false)
  const home = await openGitRemote({ url: `${origin}/git/${name}.git`, token: a.tokens.WRITE })
  after(() => home.remove())
  await home.push({ Dockerfile: 'FROM scratch\n' })
  await until('the push is known', () => accessOf(id))
  assert.equal(await accessOf(same), false)
})

test('contacts with repositories that no service uses are pruned', async () => {
  await database`
    insert into repository_access (organization_id, address, has_access, checked_at)
    select ${a.organizationId}, 'http://127.0.0.1:1/unused/' || n, true, '2020-01-01' from generate_series(1, 300) n`
  const gate = await openGate()
  const id = await addApplication(a, gate.url)
  await deploy(id)
  const [row] = await database<{ unused: number }[]>`
    select count(*)::int as unused from repository_access
    where organization_id = ${a.organizationId} and address like 'http://127.0.0.1:1/unused/%'`
  assert.ok((row?.unused ?? 0) <= 100, String(row?.unused))
  assert.equal(await accessOf(id), true)
})
