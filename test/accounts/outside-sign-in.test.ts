import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { syncMembers } from '../../server/access/index.ts'
import { readConfig } from '../../server/config.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { type Browser, createBrowser, type Opened } from '../support/browser.ts'
import { startOutsideIssuer } from '../support/outside-issuer.ts'
import { publicUrl, signIn } from '../support/people.ts'
import { createPlatform } from '../support/platform.ts'

// People of an outside issuer sign in at the platform: in the console and in applications.

const outside = await startOutsideIssuer()
outside.register(publicUrl)
after(() => outside.close())
const directory = await mkdtemp(join(tmpdir(), 'quayside-outside-'))
after(() => rm(directory, { recursive: true, force: true }))
const clientSecretFile = join(directory, 'secret')
await writeFile(clientSecretFile, `${outside.clientSecret}\n`)

const entry = { ...outside.entry, signIn: { ...outside.entry.signIn, clientSecretFile } }
const members = { 'idp|grace': ['READ', 'DEPLOY'], 'idp|carl': ['READ'] }
const issuersWith = (listed: Readonly<Record<string, readonly string[]>>) =>
  JSON.stringify([{ ...entry, members: listed }])
const settings = { QUAYSIDE_OIDC_ISSUERS: issuersWith(members) }
const platform = await createPlatform({ after }, { settings })
const { accounts, database, call, logged } = platform
const origin = await platform.listen()
const sync = (listed: Readonly<Record<string, readonly string[]>>) =>
  syncMembers(database, systemClock, readConfig({ QUAYSIDE_OIDC_ISSUERS: issuersWith(listed) }).issuers)
await sync(members)
const [first] = await database<{ id: string }[]>`select id from organization order by created_at, id limit 1`
const ours = first?.id === platform.a.organizationId ? platform.a : platform.b
outside.people.set('idp|grace', { name: 'Grace\u202e Hopper', email: 'grace@example.org', email_verified: true })
outside.people.set('idp|carl', { name: 'ada@example.org', email: 'ada@example.org', email_verified: false })
outside.people.set('idp|eve', { name: 'Eve', email: 'eve@example.org', email_verified: true })

const redirect_uri = `${publicUrl}/login/auth0-callback`
const verifier = randomBytes(32).toString('base64url')
const authorize = `/oidc/authorize?${new URLSearchParams({
  client_id: 'quayside-console',
  response_type: 'code',
  scope: 'openid profile email offline_access',
  redirect_uri,
  state: 'a state',
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
})}`
const newBrowser = () => createBrowser(origin, publicUrl)

/** Opens the sign-in page and its link to the issuer. Returns the address there. */
async function begin(browser: Browser, start = authorize): Promise<string> {
  const started = await browser.open(start)
  const location = started.location.includes('/oidc/authorize?')
    ? (await browser.open(started.location)).location
    : started.location
  return press(browser, await browser.open(location))
}

/** Presses the button of the issuer on a sign-in page. Returns the address there. */
async function press(browser: Browser, page: Opened): Promise<string> {
  assert.match(page.text, /<button type="submit" class="way">Sign in with Example<\/button>/)
  const [, action = ''] = /action="([^"]+\/0)"/.exec(page.text) ?? []
  const { text } = await browser.open(action, {})
  const [, url = ''] = /url=([^"]+)">/.exec(text) ?? []
  return url.replaceAll('&#38;', '&').replaceAll('&#61;', '=')
}

const stateIn = (address: string): string => new URL(address).searchParams.get('state') ?? ''

/** The address to which the issuer would send a browser with this code. */
const backWith = (state: string, code: string): string =>
  `/oidc/outside?${new URLSearchParams({ state, code, iss: outside.origin })}`

/** Counts how often the issuer was asked for tokens since `before` requests. */
const asked = (before: number): number => outside.paths.slice(before).filter((path) => path === '/token').length

/** Signs in at the issuer. Returns the address of the platform to which it sends the browser. */
async function signInThere(address: string, sub: string): Promise<string> {
  const there = createBrowser(outside.origin, outside.origin)
  const { location: form } = await there.open(address)
  const resumed = await there.open((await there.open(form, { sub })).location)
  return resumed.location
}

/** Follows redirects of the platform. */
async function follow(browser: Browser, location: string): Promise<Opened> {
  let opened = await browser.open(location)
  while (opened.location.startsWith('/') || opened.location.startsWith(`${publicUrl}/oidc/`)) {
    opened = await browser.open(opened.location)
  }
  return opened
}

const enter = async (browser: Browser, sub: string, start?: string): Promise<Opened> =>
  follow(browser, await signInThere(await begin(browser, start), sub))

async function token(body: Record<string, string>): Promise<{ status: number; body: Record<string, string> }> {
  const answer = await fetch(`${origin}/oidc/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: 'quayside-console', ...body }),
  })
  return { status: answer.status, body: JSON.parse(await answer.text()) }
}

/** Makes an application behind the sign-in. Returns the question of its router. */
async function question(): Promise<string> {
  const { environmentId } = await platform.addObjects(ours)
  const { ADMIN } = ours.tokens
  const created = await call(ADMIN, 'POST', `/environment/${environmentId}/application`, {
    name: 'inside',
    git_repository: { url: 'http://localhost:3000/git/hello.git' },
    ports: [{ internal_port: 8080, external_port: 443, publicly_accessible: true, protocol: 'HTTP', name: 'web' }],
  })
  const { id: service } = Object(created.body)
  const settingsPath = `/application/${service}/advancedSettings`
  assert.equal((await call(ADMIN, 'PUT', settingsPath, { 'network.router.sign_in': 'member' })).status, 201)
  const [route] = await database<{ host: string }[]>`select host from route where service_id = ${service}`
  const asked = { service, host: route?.host ?? '', challenge: 'c'.repeat(43), path: '/report' }
  return `/oidc/applications?${new URLSearchParams(asked)}`
}

const claimsIn = (location: string) =>
  JSON.parse(
    Buffer.from((new URL(location).searchParams.get('token') ?? '').split('.')[0] ?? '', 'base64url').toString(),
  )

const grace = newBrowser()
const guarded = await question()

test('a person of an outside issuer signs in to the console and uses the API with her rights', async () => {
  const { location } = await enter(grace, 'idp|grace')
  const code = new URL(location).searchParams.get('code') ?? ''
  const { status, body } = await token({
    grant_type: 'authorization_code',
    redirect_uri,
    code,
    code_verifier: verifier,
  })
  assert.equal(status, 200, JSON.stringify(body))
  const access = body['access_token'] ?? ''
  const listed = await call(access, 'GET', '/organization')
  assert.deepEqual([listed.status, Object(listed.body).results[0].id], [200, ours.organizationId])
  assert.equal((await call(access, 'POST', `/organization/${ours.organizationId}/project`, { name: 'x' })).status, 403)
  const renewed = await token({ grant_type: 'refresh_token', refresh_token: body['refresh_token'] ?? '' })
  assert.equal((await call(renewed.body['access_token'], 'GET', '/organization')).status, 200)
  const [row] = await database`select name, outside_email, email from account where subject = 'idp|grace'`
  assert.deepEqual({ ...row }, { name: 'Grace? Hopper', outside_email: 'grace@example.org', email: null })
})

test('she enters an application with that session, and it gets the verified address', async () => {
  const { status, location } = await grace.open(guarded)
  assert.equal(status, 303)
  assert.deepEqual([claimsIn(location).email, claimsIn(location).role], ['grace@example.org', ''])
})

test('a person without a session comes to the application through the outside issuer', async () => {
  const { status, text } = await enter(newBrowser(), 'idp|carl', guarded)
  assert.equal(status, 200)
  const [, url = ''] = /url=([^"]+)">/.exec(text) ?? []
  const location = url.replaceAll('&#38;', '&').replaceAll('&#61;', '=')
  assert.equal(claimsIn(location).email, 'idp|carl', 'neither an unverified address nor a chosen name')
})

test('a stranger of the issuer gets no session', async () => {
  const browser = newBrowser()
  const { status, text } = await enter(browser, 'idp|eve')
  assert.equal(status, 403)
  assert.match(text, /Example knows you as &#34;idp\|eve&#34;, who is not a member here/)
  assert.equal(new URL((await browser.open(guarded)).location).pathname, '/oidc/authorize')
})

test('an answer of the issuer counts in the browser that asked, once and unchanged', async () => {
  const [browser, victim] = [newBrowser(), newBrowser()]
  const address = await begin(browser)
  await begin(victim)
  const back = await signInThere(address, 'idp|carl')
  assert.equal((await follow(victim, back)).status, 404, 'in another browser')
  const state = stateIn(back)
  const change = (text: string): string => {
    const url = new URL(back)
    url.searchParams.set('state', text)
    return url.href
  }
  assert.equal((await follow(browser, change(`${state.slice(0, -1)}${state.endsWith('A') ? 'B' : 'A'}`))).status, 403)
  for (const wrong of ['', 'x', `${state}x`, state.replace(/\.0\./, '.7.'), `//evil.test/${state}`]) {
    assert.equal((await follow(browser, change(wrong))).status, 404, wrong)
  }
  assert.equal((await browser.open('/oidc/outside', { state })).status, 404)
  assert.ok((await follow(browser, back)).location.startsWith(redirect_uri))
  assert.equal((await follow(browser, back)).status, 404, 'a second time')
})

test('the sign-in page says that the issuer refused, without its words', async () => {
  const browser = newBrowser()
  const state = stateIn(await begin(browser))
  const query = new URLSearchParams({
    state,
    error: 'access_denied',
    error_description: '<b>Call 555',
    iss: outside.origin,
  })
  const { status, text } = await follow(browser, `/oidc/outside?${query}`)
  assert.equal(status, 403)
  assert.match(text, /Example did not sign you in/)
  assert.doesNotMatch(text, /555/)
})

test('a sign-in at the issuer counts for twelve hours', async () => {
  const { location } = await grace.open(authorize)
  const code = new URL(location).searchParams.get('code') ?? ''
  const { body } = await token({ grant_type: 'authorization_code', redirect_uri, code, code_verifier: verifier })
  await database`update account set outside_signed_in_at = now() - interval '12 hours' where subject = 'idp|grace'`
  const renewed = await token({ grant_type: 'refresh_token', refresh_token: body['refresh_token'] ?? '' })
  assert.deepEqual([renewed.status, renewed.body['error']], [400, 'invalid_grant'])
  assert.equal(new URL((await grace.open(guarded)).location).pathname, '/oidc/authorize')
  const silent = await grace.open(`${authorize}&prompt=none`)
  assert.equal(new URL(silent.location).searchParams.get('error'), 'login_required')
  await enter(grace, 'idp|grace')
  assert.equal(claimsIn((await grace.open(guarded)).location).email, 'grace@example.org')
})

test('somebody who is no longer listed is not admitted, and cannot sign in again', async () => {
  await sync({ 'idp|carl': ['READ'] })
  const { status, text } = await grace.open(guarded)
  assert.equal(status, 403)
  assert.match(text, /signed in as grace@example\.org/)
  assert.equal((await enter(newBrowser(), 'idp|grace')).status, 403)
})

test('a token of the platform names people of listed issuers alone', async () => {
  const [carl] = await database<{ id: string }[]>`select id from account where subject = 'idp|carl'`
  const named = async (issuer: unknown, subject: unknown): Promise<number> => {
    const quayside_person = { issuer, subject }
    return (await call(await signIn({ accounts }, carl?.id ?? '', { quayside_person }), 'GET', '/organization')).status
  }
  assert.equal(await named(outside.origin, 'idp|carl'), 200)
  assert.equal(await named('https://evil.test', 'idp|carl'), 401)
  assert.equal(await named('quayside', 'idp|carl'), 401)
  assert.equal(await named(outside.origin, 7), 401)
})

test('an answer with a wrong state makes the platform ask nobody', async () => {
  const fresh = await createPlatform({ after }, { settings })
  const origin = await fresh.listen()
  const browser = createBrowser(origin, publicUrl)
  const started = await browser.open(authorize)
  const uid = started.location.split('/').at(-1) ?? ''
  await browser.open(started.location)
  const before = outside.paths.length
  const query = new URLSearchParams({
    state: `${uid}.0.${'x'.repeat(22)}.${'x'.repeat(43)}`,
    code: 'a',
    iss: outside.origin,
  })
  const { status } = await follow(browser, `/oidc/outside?${query}`)
  assert.equal(status, 403)
  assert.deepEqual(outside.paths.slice(before), [])
})

test('the issuer is asked once for each state, whatever codes come back with it', async () => {
  const browser = newBrowser()
  const back = await signInThere(await begin(browser), 'idp|carl')
  const before = outside.paths.length
  const state = stateIn(back)
  const answers = [backWith(state, 'wrong'), backWith(state, 'other'), back, backWith(state, 'third')]
  const texts: string[] = []
  for (const answer of answers) {
    const { status, text } = await follow(browser, answer)
    assert.equal(status, 403)
    texts.push(text)
  }
  assert.equal(asked(before), 1)
  assert.match(texts[0] ?? '', /Example did not sign you in/)
  for (const text of texts.slice(1)) assert.match(text, /This answer of Example was already used\. Sign in again\./)
})

test('the page of a failed sign-in leads to the issuer with a new state', async () => {
  const browser = newBrowser()
  const state = stateIn(await begin(browser))
  const page = await follow(browser, backWith(state, 'wrong'))
  const address = await press(browser, page)
  assert.notEqual(stateIn(address), state)
  assert.ok((await follow(browser, await signInThere(address, 'idp|carl'))).location.startsWith(redirect_uri))
})

test('an answer that arrives several times at once makes the platform ask once', async () => {
  const browser = newBrowser()
  const back = await signInThere(await begin(browser), 'idp|carl')
  const { location } = await browser.open(back)
  const before = outside.paths.length
  const answers = await Promise.all(Array.from({ length: 6 }, () => browser.open(location)))
  const statuses = answers.map(({ status }) => status).toSorted()
  assert.deepEqual(statuses, [303, 403, 403, 403, 403, 403])
  assert.equal(asked(before), 1)
})

test('an answer that was used stays used after a restart of the server', async () => {
  const browser = newBrowser()
  const { location } = await browser.open(backWith(stateIn(await begin(browser)), 'wrong'))
  assert.equal((await browser.open(location)).status, 403)
  const next = await platform.another()
  try {
    const before = outside.paths.length
    const { status, text } = await browser.open(`${await next.app.listen({ host: '127.0.0.1', port: 0 })}${location}`)
    assert.equal(status, 403)
    assert.match(text, /already used/)
    assert.deepEqual(outside.paths.slice(before), [])
  } finally {
    await next.stop()
  }
})

test('several tabs of one browser sign in, each with its own state', async () => {
  const browser = newBrowser()
  const tabs = [await begin(browser), await begin(browser), await begin(browser)]
  assert.equal(new Set(tabs.map(stateIn)).size, 3)
  const backs: string[] = []
  for (const address of tabs.toReversed()) backs.push(await signInThere(address, 'idp|carl'))
  for (const back of backs) assert.ok((await follow(browser, back)).location.startsWith(redirect_uri))
})

test('a client that brings wrong answers has to wait, and the issuer is not asked meanwhile', async () => {
  await database`delete from sign_in_attempt`
  const browser = newBrowser()
  let address = await begin(browser)
  const before = outside.paths.length
  const statuses = new Set<number>()
  let [text, retryAfter] = ['', '']
  for (let count = 0; count < 30; count++) {
    const opened = await follow(browser, backWith(stateIn(address), `wrong ${count}`))
    statuses.add(opened.status)
    text = opened.text
    retryAfter = opened.headers.get('retry-after') ?? ''
    address = await press(browser, opened)
  }
  assert.deepEqual([...statuses], [403, 429])
  assert.match(retryAfter, /^[1-9]\d*$/)
  assert.match(text, /Too many attempts\. Try again in \d+ s\./)
  assert.ok(asked(before) <= 20, `${asked(before)}`)
  assert.equal((await enter(newBrowser(), 'idp|carl')).status, 429)
  await database`delete from sign_in_attempt`
  assert.ok((await enter(newBrowser(), 'idp|carl')).location.startsWith(redirect_uri))
})

test('an issuer with too many failed answers is not asked, and the page says when to try again', async () => {
  await database`delete from sign_in_attempt`
  await database`insert into outside_failure (issuer, failures, counted_at)
    values (${outside.origin}, 200, now() + interval '4 s')
    on conflict (issuer) do update set failures = 200, counted_at = excluded.counted_at`
  const before = outside.paths.length
  const { status, text, headers } = await enter(newBrowser(), 'idp|carl')
  assert.equal(status, 429)
  assert.match(text, /Too many sign-ins at 127\.0\.0\.1:\d+ failed\. Try again in \d+ s\./)
  assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  assert.equal(asked(before), 0)
  await database`delete from outside_failure`
  assert.ok((await enter(newBrowser(), 'idp|carl')).location.startsWith(redirect_uri))
})

test('the secret of the client and the tokens of the issuer are not logged', () => {
  assert.ok(logged.some((line) => line.includes('a sign-in at an outside issuer failed')))
  assert.deepEqual(
    logged.filter((line) => line.includes('SECRET-') || /eyJ[\w-]+\.eyJ/.test(line)),
    [],
  )
})
