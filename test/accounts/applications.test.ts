import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { listName, type SignInClaims, tokenPurpose } from '../../contract/sign-in.ts'
import { applicationIssuer } from '../../server/accounts/index.ts'
import { readTable } from '../../server/domains/route-table-store.ts'
import { openPepper } from '../../server/vault/index.ts'
import { createBrowser, type Opened } from '../support/browser.ts'
import type { Objects, Tenant } from '../support/fixture.ts'
import { publicUrl } from '../support/people.ts'
import { createPlatform } from '../support/platform.ts'

// The way from a router into an application behind the sign-in, as far as the server is asked.

const platform = await createPlatform({ after })
const { accounts, database, call } = platform
const origin = await platform.listen()
const person = { email: 'ada@example.org', password: 'correct horse battery' }
const browser = createBrowser(origin, publicUrl)
assert.equal((await browser.open((await accounts.firstAccountLink()) ?? '', { name: 'Ada', ...person })).status, 200)
const [owned] = await database<{ id: string }[]>`select id from organization where owner is not null`
const [ours, theirs] = owned?.id === platform.a.organizationId ? [platform.a, platform.b] : [platform.b, platform.a]
const challenge = 'c'.repeat(43)

/** Makes an application with a host. Returns its id and the host. */
async function application(tenant: Tenant & { readonly objects: Objects }, roles: string | null) {
  const { environmentId } = await platform.addObjects(tenant)
  const { ADMIN } = tenant.tokens
  const body = {
    name: 'inside',
    git_repository: { url: 'http://localhost:3000/git/hello.git' },
    ports: [{ internal_port: 8080, external_port: 443, publicly_accessible: true, protocol: 'HTTP', name: 'web' }],
  }
  const { id } = Object((await call(ADMIN, 'POST', `/environment/${environmentId}/application`, body)).body)
  const settings = { 'network.router.sign_in': roles }
  const put = await call(ADMIN, 'PUT', `/application/${id}/advancedSettings`, settings)
  assert.equal(put.status, 201, put.text)
  const [route] = await database<{ host: string }[]>`select host from route where service_id = ${id}`
  return { service: String(id), host: route?.host ?? assert.fail('no host') }
}

const guarded = await application(ours, 'member')
const pepper = await openPepper({ database, file: join(platform.directory, 'token.pepper') })
const issuer = applicationIssuer(pepper, { publicUrl })

/** Returns the people whom routers admit. */
async function publishedPeople(): Promise<Record<string, number>> {
  const { routes, people } = await readTable(database, undefined, { signIn: issuer })
  const rule = routes.find(({ service }) => service === guarded.service)?.rules?.signIn
  return Object.assign({}, ...(rule?.roles ?? []).map((role) => people[listName(ours.organizationId, role)]))
}

const ask = (question: Readonly<Record<string, string>>, of = browser): Promise<Opened> =>
  of.open(`/oidc/applications?${new URLSearchParams({ challenge, path: '/', ...question })}`)

/** Signs in at the page to which the question led. Returns the last answer. */
async function signIn(started: Opened, of = browser): Promise<Opened> {
  const { location: form } = await of.open(started.location)
  assert.match((await of.open(form)).text, /to go on to inside/)
  const resumed = await of.open((await of.open(form, person)).location)
  return of.open(resumed.location)
}

test('a person without a session signs in first, and continues by a page without a form', async () => {
  const started = await ask({ ...guarded, path: '/report?of=may' })
  assert.deepEqual([started.status, new URL(started.location).pathname], [303, '/oidc/authorize'])
  const { status, text, headers } = await signIn(started)
  assert.equal(status, 200)
  assert.match(
    text,
    /<meta http-equiv="refresh" content="0; url=http:\/\/inside-[^"]+\/\.well-known\/quayside\/sign-in\?/,
  )
  assert.match(
    headers.get('content-security-policy') ?? '',
    /form-action 'self'; base-uri 'none'; frame-ancestors 'none'/,
  )
})

test('a person with a session gets a token for this service, host, browser and path', async () => {
  const { status, location } = await ask({ ...guarded, path: '/report' })
  assert.equal(status, 303)
  const url = new URL(location)
  assert.equal(`${url.origin}${url.pathname}`, `http://${guarded.host}:8080/.well-known/quayside/sign-in`)
  const [content = '', signature = ''] = url.searchParams.get('token')?.split('.') ?? []
  const people = await publishedPeople()
  const claims: SignInClaims = JSON.parse(Buffer.from(content, 'base64url').toString())
  assert.deepEqual([claims.service, claims.host, claims.challenge], [guarded.service, guarded.host, challenge])
  assert.deepEqual(Object.keys(people), [claims.account], 'the table admits the same people')
  assert.ok(verify(null, Buffer.from(tokenPurpose + content), publicKey(), Buffer.from(signature, 'base64url')))
  assert.equal((await call(url.searchParams.get('token') ?? '', 'GET', '/organization')).status, 401)
})

/** Returns the key by which routers check tokens. */
function publicKey() {
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), Buffer.from(issuer.key, 'base64url')])
  return createPublicKey({ key: der, format: 'der', type: 'spki' })
}

test('leads to addresses of the service alone', async () => {
  const other = await application(ours, null)
  const wrong: Readonly<Record<string, string>>[] = [
    { ...guarded, host: 'evil.test' },
    { ...guarded, host: `${guarded.host}:31337` },
    { ...guarded, host: `${guarded.host}@evil.test` },
    { ...guarded, host: other.host },
    { ...other },
    { ...guarded, service: other.service },
    { ...guarded, service: 'x' },
    { ...guarded, challenge: 'short' },
    {},
  ]
  for (const question of wrong) assert.equal((await ask(question)).status, 404, JSON.stringify(question))
  for (const path of ['//evil.test', '/\\evil.test', 'https://evil.test', '/a\nb']) {
    const { location } = await ask({ ...guarded, path })
    assert.equal(new URL(location).searchParams.get('path'), '/', path)
  }
  const secure = await ask({ ...guarded, secure: '1' })
  assert.equal(new URL(secure.location).origin, `https://${guarded.host}`)
})

test('admits nobody of another organization', async () => {
  const { status, text } = await ask(await application(theirs, 'member'))
  assert.equal(status, 403)
  assert.match(text, /You may not open inside/)
  assert.match(text, /signed in as ada@example\.org/)
})

test('a role that the organization does not have is rejected', async () => {
  const { ADMIN } = ours.tokens
  const created = await call(ADMIN, 'POST', `/organization/${ours.organizationId}/customRole`, { name: 'Support' })
  const { id } = Object(created.body)
  const put = (roles: string) =>
    call(ADMIN, 'PUT', `/application/${guarded.service}/advancedSettings`, { 'network.router.sign_in': roles })
  const refused = await put('DevOps, Suport')
  assert.equal(refused.status, 400)
  assert.match(
    refused.text,
    /network\.router\.sign_in: the organization has no role \\"Suport\\"\. Possible values: member, Owner, /,
  )
  for (const roles of ['devops, SUPPORT', id, 'member']) assert.equal((await put(roles)).status, 201, roles)
})

test('a browser that keeps no cookie sees why, and is not sent in circles', async () => {
  const state = new URLSearchParams({ ...guarded, challenge, path: '/' }).toString()
  const back = `/oidc/applications/signed-in?${new URLSearchParams({ state, code: 'x' })}`
  assert.equal((await createBrowser(origin, publicUrl).open(back)).status, 400)
  assert.equal((await browser.open('/oidc/applications/else')).status, 404)
  assert.equal((await browser.open('/oidc/applications', { state })).status, 405)
})

test('a sign-out makes earlier tokens invalid', async () => {
  const page = await browser.open('/oidc/v2/logout')
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.text)?.[1] ?? assert.fail(page.text)
  await browser.open('/oidc/v2/logout/confirm', { xsrf, logout: 'yes' })
  const [sinceMs = 0] = Object.values(await publishedPeople())
  assert.ok(Math.abs(Date.now() - sinceMs) < 60_000)
  assert.equal(new URL((await ask(guarded)).location).pathname, '/oidc/authorize')
})
