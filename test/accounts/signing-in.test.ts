import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { createBrowser, type Opened } from '../support/browser.ts'
import { publicUrl } from '../support/people.ts'
import { createPlatform } from '../support/platform.ts'

/**
 * From the first link to a call of the API as a person: nothing but what a browser and a command
 * line send.
 */
const platform = await createPlatform({ after })
const { call, database, accounts } = platform
const origin = await platform.listen()
const password = 'correct horse battery'
const email = 'Ada@Example.org'

const link = (await accounts.firstAccountLink()) ?? ''
const redirect_uri = `${publicUrl}/login/auth0-callback`

interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly id_token: string
}

async function token(body: Record<string, string>): Promise<{ status: number; body: Tokens & { error?: string } }> {
  const answer = await fetch(`${origin}/oidc/oauth/token`, { method: 'POST', body: new URLSearchParams(body) })
  return { status: answer.status, body: JSON.parse(await answer.text()) }
}

const payloadOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())

function request(change: Record<string, string> = {}) {
  const verifier = randomBytes(32).toString('base64url')
  const parameters = new URLSearchParams({
    client_id: 'quayside-console',
    response_type: 'code',
    scope: 'openid profile email offline_access',
    audience: 'https://core.example.org',
    redirect_uri,
    state: 'a state',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...change,
  })
  return { verifier, url: `/oidc/authorize?${parameters}` }
}

/** Signs in up to the redirect to the client, and returns its parameters. */
async function signIn(browser = createBrowser(origin, publicUrl), asked = request()) {
  const started = await browser.open(asked.url)
  let last: Opened = started
  if (last.location.includes('/sign-in/')) {
    const path = last.location
    assert.match((await browser.open(path)).text, /<form method="post" action="\/oidc\/sign-in\/[\w-]+">/)
    last = await browser.open(path, { email: email.toLowerCase(), password })
    last = await browser.open(last.location)
  }
  assert.ok(last.location.startsWith(redirect_uri), `${last.status} ${last.location} ${last.text}`)
  return { verifier: asked.verifier, answer: new URL(last.location).searchParams, browser }
}

const codeFor = (code: string, code_verifier: string) =>
  token({ grant_type: 'authorization_code', client_id: 'quayside-console', redirect_uri, code, code_verifier })

test('A20: the first link makes the owner of the first organization, once', async () => {
  const browser = createBrowser(origin, publicUrl)
  assert.match(link, /^http:\/\/localhost:3000\/setup\/[\w-]{43}$/)
  for (const wrong of ['/setup/', `/setup/${'a'.repeat(43)}`, `${link}x`]) {
    assert.equal((await browser.open(wrong)).status, 404)
    assert.equal((await browser.open(wrong, { name: 'Eve', email, password })).status, 404)
  }
  const page = await browser.open(link)
  assert.equal(page.status, 200)
  assert.match(
    page.headers.get('content-security-policy') ?? '',
    /^default-src 'none'; style-src 'sha256-[^ ]+'; form-action 'self'/,
  )
  assert.equal((await browser.open(link, { name: 'Ada', email, password: 'short' })).status, 400)
  const odd = await browser.open(link, { name: '<script>alert(1)</script>', email: 'no address', password })
  assert.equal(odd.status, 400)
  assert.ok(!odd.text.includes('<script'))
  assert.match(odd.text, /email is not an email address/)
  assert.equal((await browser.open(link, { name: 'Ada Example', email, password })).status, 200)
  assert.equal((await browser.open(link)).status, 404)
  assert.equal((await browser.open(link, { name: 'Eve', email: 'eve@example.org', password })).status, 404)
  assert.equal(await accounts.firstAccountLink(), undefined)
  const [owner] = await database`
    select a.email, m.role from organization o join account a on a.id = o.owner join member m on m.account_id = a.id
    order by o.created_at, o.id limit 1`
  assert.deepEqual({ ...owner }, { email, role: 'OWNER' })
})

test('a program in the browser signs in with code and PKCE, and its token is the person at the API', async () => {
  const { verifier, answer } = await signIn()
  assert.equal(answer.get('state'), 'a state')
  assert.equal(answer.get('iss'), `${publicUrl}/oidc/`)
  const { status, body } = await codeFor(answer.get('code') ?? '', verifier)
  assert.equal(status, 200, JSON.stringify(body))
  const { iss, aud, sub } = payloadOf(body.access_token)
  assert.deepEqual([iss, aud], [`${publicUrl}/oidc/`, publicUrl])
  const claims = payloadOf(body.id_token)
  assert.deepEqual([claims.sub, claims.aud, claims.name, claims.email], [sub, 'quayside-console', 'Ada Example', email])
  const account = await call(body.access_token, 'GET', '/account')
  assert.equal(account.status, 200, account.text)
  assert.equal(Object(account.body).communication_email, email)
  const organizations = Object((await call(body.access_token, 'GET', '/organization')).body).results
  assert.equal(organizations.length, 1)
  assert.equal(
    (await call(body.access_token, 'PUT', `/organization/${organizations[0].id}`, { name: 'Ours' })).status,
    200,
  )
  assert.equal((await call(body.id_token, 'GET', '/account')).status, 401, 'an id token is for its client')
})

test('a refresh token is good once, and using it again ends what came of it', async () => {
  const { verifier, answer } = await signIn()
  const { body } = await codeFor(answer.get('code') ?? '', verifier)
  const refresh = (refresh_token: string) =>
    token({ grant_type: 'refresh_token', client_id: 'quayside-console', refresh_token })
  const second = await refresh(body.refresh_token)
  assert.equal(second.status, 200, JSON.stringify(second.body))
  assert.equal((await call(second.body.access_token, 'GET', '/account')).status, 200)
  assert.equal((await refresh(body.refresh_token)).body.error, 'invalid_grant')
  assert.equal((await refresh(second.body.refresh_token)).body.error, 'invalid_grant')
})

test('B26: codes are good once, for the one who asked, and go to known addresses only', async () => {
  const { verifier, answer, browser } = await signIn()
  const code = answer.get('code') ?? ''
  assert.equal((await codeFor(code, 'x'.repeat(43))).status, 400)
  const again = await signIn(browser)
  const good = again.answer.get('code') ?? ''
  assert.equal((await codeFor(good, again.verifier)).status, 200)
  assert.equal((await codeFor(good, again.verifier)).status, 400)
  assert.equal((await codeFor(good, verifier)).status, 400)
  for (const change of [
    { redirect_uri: 'https://evil.example/' },
    { client_id: 'nobody' },
    { redirect_uri: `${redirect_uri}/../../x` },
  ]) {
    const { status, location } = await browser.open(request(change).url)
    assert.deepEqual([status, location], [400, ''])
  }
  const noPkce = await browser.open(request({ code_challenge: '', code_challenge_method: '' }).url)
  assert.match(noPkce.location, /error=invalid_request/)
  const plain = await browser.open(request({ code_challenge_method: 'plain' }).url)
  assert.match(plain.location, /error=invalid_request/)
})

test('another browser cannot use the page of somebody’s sign-in', async () => {
  const mine = createBrowser(origin, publicUrl)
  const { location } = await mine.open(request().url)
  assert.match(location, /\/oidc\/sign-in\//)
  const other = createBrowser(origin, publicUrl)
  assert.equal((await other.open(location)).status, 404)
  assert.equal((await other.open(location, { email, password })).status, 404)
  assert.equal((await mine.open(location)).status, 200)
})

test('a device without a browser signs in by a code that the person confirms', async () => {
  const client_id = 'quayside-cli'
  const started = await fetch(`${origin}/oidc/oauth/device/code`, {
    method: 'POST',
    body: new URLSearchParams({ client_id, scope: 'openid profile offline_access' }),
  })
  const device: { device_code: string; user_code: string; verification_uri: string } = JSON.parse(await started.text())
  assert.match(device.user_code, /^[A-Z]{4}-[A-Z]{4}$/)
  const poll = () =>
    token({ grant_type: 'urn:ietf:params:oauth:grant-type:device_code', client_id, device_code: device.device_code })
  assert.equal((await poll()).body.error, 'authorization_pending')
  const browser = createBrowser(origin, publicUrl)
  const page = await browser.open(device.verification_uri)
  assert.equal(page.status, 200)
  const xsrf = (text: string) => /name="xsrf" value="([^"]+)"/.exec(text)?.[1] ?? ''
  const confirm = await browser.open(device.verification_uri, { xsrf: xsrf(page.text), user_code: device.user_code })
  assert.ok(confirm.text.includes(device.user_code), confirm.text)
  const accepted = await browser.open(device.verification_uri, {
    xsrf: xsrf(confirm.text),
    user_code: device.user_code,
    confirm: 'yes',
  })
  assert.match(accepted.location, /\/oidc\/sign-in\//)
  await browser.open(accepted.location)
  const signed = await browser.open(accepted.location, { email, password })
  const confirmed = await browser.open((await browser.open(signed.location)).location)
  const done = await browser.open(confirmed.location)
  assert.match(done.text, /Signed in/)
  const { status, body } = await poll()
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal((await call(body.access_token, 'GET', '/account')).status, 200)
  assert.ok(body.refresh_token)
})

test('who is invited joins by the link, and has the role of the invitation', async () => {
  const { verifier, answer } = await signIn()
  const owner = (await codeFor(answer.get('code') ?? '', verifier)).body.access_token
  const [organization] = Object((await call(owner, 'GET', '/organization')).body).results
  const path = `/organization/${organization.id}/inviteMember`
  const invited = await call(owner, 'POST', path, { email: 'bob@example.org', role: 'VIEWER' })
  assert.equal(invited.status, 201, invited.text)
  const { invitation_link } = Object(invited.body)
  const browser = createBrowser(origin, publicUrl)
  for (const wrong of [invitation_link.slice(0, -1), invitation_link.split('.')[0], `${publicUrl}/join/`]) {
    assert.equal((await browser.open(wrong)).status, 404, wrong)
  }
  assert.match((await browser.open(invitation_link)).text, /bob@example\.org/)
  assert.equal((await browser.open(invitation_link, { name: 'Bob', password })).status, 200)
  assert.equal((await browser.open(invitation_link)).status, 404)
  const members = Object((await call(owner, 'GET', `/organization/${organization.id}/member`)).body).results
  const bob = members.find((member: { email: string }) => member.email === 'bob@example.org')
  assert.deepEqual([bob.role_name, bob.name], ['Viewer', 'Bob'])
})

test('nothing that opens a door is in the database as it is, nor in the log', async () => {
  const { verifier, answer } = await signIn()
  const code = answer.get('code') ?? ''
  const { body } = await codeFor(code, verifier)
  const tables = await database<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public'`
  const rows = await Promise.all(tables.map(({ name }) => database`select t::text as text from ${database(name)} t`))
  const dump = JSON.stringify(rows)
  for (const secret of [password, code, body.refresh_token, body.access_token, link.split('/').at(-1) ?? '?']) {
    assert.ok(!dump.includes(secret))
    assert.ok(platform.logged.every((line) => !line.includes(secret)))
  }
})

test('discovery tells where everything is, under the public URL', async () => {
  const answer = await fetch(`${origin}/oidc/.well-known/openid-configuration`)
  const found = JSON.parse(await answer.text())
  assert.equal(found.issuer, `${publicUrl}/oidc/`)
  assert.equal(found.authorization_endpoint, `${publicUrl}/oidc/authorize`)
  assert.equal(found.token_endpoint, `${publicUrl}/oidc/oauth/token`)
  const keys = JSON.parse(await (await fetch(`${origin}/oidc/.well-known/jwks.json`)).text()).keys
  assert.equal(keys.length, 1)
  assert.deepEqual(Object.keys(keys[0]).sort(), ['alg', 'e', 'kid', 'kty', 'n', 'use'])
})
