import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { insertAccount } from '../../server/access/index.ts'
import { ownAccounts } from '../../server/accounts/issuer.ts'
import { savePassword } from '../../server/accounts/password-store.ts'
import { hashPassword } from '../../server/accounts/passwords.ts'
import { newRandomId } from '../../server/lib/id.ts'
import { type Browser, createBrowser, type Opened } from '../support/browser.ts'
import { publicUrl } from '../support/people.ts'
import { createPlatform } from '../support/platform.ts'

// The page on which a person changes the password and ends sessions. The tests build on each other.

const platform = await createPlatform({ after })
const { accounts, call, database } = platform
const origin = await platform.listen()
const person = { email: 'ada@example.org', password: 'correct horse battery' }
const page = '/oidc/account'
const newBrowser = () => createBrowser(origin, publicUrl)
const setup = (await accounts.firstAccountLink()) ?? ''
assert.equal((await newBrowser().open(setup, { name: 'Ada', ...person })).status, 200)

const redirect_uri = `${publicUrl}/login/auth0-callback`

function request(client_id = 'quayside-console', uri = redirect_uri) {
  const verifier = randomBytes(32).toString('base64url')
  const asked = new URLSearchParams({
    ...{ client_id, response_type: 'code', scope: 'openid offline_access', redirect_uri: uri, state: 'x' },
    ...{ code_challenge_method: 'S256', code_challenge: createHash('sha256').update(verifier).digest('base64url') },
  })
  return { verifier, url: `/oidc/authorize?${asked}` }
}

const isOurs = (location: string): boolean => location.startsWith('/oidc/') || location.startsWith(`${publicUrl}/oidc/`)

/** Signs a browser in with this password. Returns the last page that is not a redirect. */
async function signIn(browser: Browser, password = person.password, start = request().url): Promise<Opened> {
  let opened = await browser.open(start)
  if (opened.location.includes('/authorize?')) opened = await browser.open(opened.location)
  if (opened.location.includes('/sign-in/')) {
    const form = opened.location
    await browser.open(form)
    opened = await browser.open(form, { ...person, password })
  }
  for (let step = 0; step < 6 && isOurs(opened.location); step++) opened = await browser.open(opened.location)
  return opened
}

interface Tokens {
  readonly access: string
  readonly refresh: string
}

const token = async (body: Readonly<Record<string, string>>): Promise<Partial<Tokens>> => {
  const answer = await fetch(`${origin}/oidc/oauth/token`, { method: 'POST', body: new URLSearchParams(body) })
  const { access_token: access, refresh_token: refresh } = JSON.parse(await answer.text())
  return { access, refresh }
}

/** The tokens of a console in this browser. */
async function tokensOf(browser: Browser): Promise<Partial<Tokens>> {
  const { verifier, url } = request()
  const { location } = await browser.open(url)
  const code = new URL(location, publicUrl).searchParams.get('code') ?? ''
  return token({
    ...{ grant_type: 'authorization_code', client_id: 'quayside-console' },
    ...{ redirect_uri, code, code_verifier: verifier },
  })
}

const isSignedIn = async (browser: Browser): Promise<boolean> => (await browser.open(page)).status === 200
const statusOf = async (access = ''): Promise<number> => (await call(access, 'GET', '/account')).status
/** Access tokens count by whole seconds. */
const makeOlder = () =>
  database`update account set tokens_since = now() + interval '1 s' where tokens_since is not null`
const change = (browser: Browser, current: string, next: string) =>
  browser.open(page, { action: 'password', current, next })

const [own, other, third] = [newBrowser(), newBrowser(), newBrowser()]

test('a person without a session signs in first, and comes back to the page', async () => {
  const { status, text } = await signIn(own, person.password, page)
  assert.equal(status, 200)
  assert.match(text, /You are signed in as ada@example\.org/)
  assert.match(text, /This browser/)
  assert.equal((await own.open(`${page}?code=x`)).location, page, 'the address keeps no code')
})

test('a change finds no password of another account with the address, and its tries count', async () => {
  const namesake = newRandomId()
  const names = { name: 'Eve', first_name: 'Eve', last_name: '' }
  await insertAccount(
    database,
    { ...names, id: namesake, issuer: ownAccounts, subject: namesake, email: person.email },
    new Date(),
  )
  await savePassword(database, namesake, await hashPassword('the password of a namesake'), new Date())
  const taken = await change(own, person.password, 'the password of a namesake')
  assert.equal(taken.status, 400)
  assert.match(taken.text, /This password cannot be used/)
  const statuses: number[] = []
  let current = person.password
  for (let guess = 0; guess < 6; guess++) {
    const next = `guess number ${guess} of hers`
    const { status } = await change(own, current, next)
    statuses.push(status)
    if (status === 200) current = next
  }
  assert.equal(statuses.at(-1), 429, statuses.join())
  await database`delete from account where id = ${namesake}`
  await database`delete from sign_in_attempt`
  assert.equal((await change(own, current, person.password)).status, 200)
})

const idsIn = ({ text }: Opened): string[] =>
  [...text.matchAll(/name="id" value="([\w-]{43})"/g)].map(([, id = '']) => id)

test('the page lists the sessions of the person, and ends the chosen one at once', async () => {
  await signIn(other)
  const [console, ownConsole] = [await tokensOf(other), await tokensOf(own)]
  const [otherId = '', ...more] = idsIn(await own.open(page))
  assert.deepEqual(more, [], 'tokens of a console belong to its session')
  await signIn(third)
  assert.equal(idsIn(await own.open(page)).length, 2)
  assert.equal(await statusOf(console.access), 200)
  const { status, text } = await own.open(page, { action: 'end', id: otherId })
  assert.equal(status, 200)
  assert.match(text, /The session has ended\./)
  assert.equal(idsIn(await own.open(page)).length, 1)
  assert.deepEqual([await isSignedIn(own), await isSignedIn(other), await isSignedIn(third)], [true, false, true])
  await makeOlder()
  assert.equal(await statusOf(console.access), 401, 'its access token')
  const refresh = (refresh_token = '') =>
    token({ grant_type: 'refresh_token', client_id: 'quayside-console', refresh_token })
  assert.deepEqual(await refresh(console.refresh), { access: undefined, refresh: undefined })
  assert.ok((await refresh(ownConsole.refresh)).access, 'other programs get new tokens')
})

test('a program that keeps a refresh token is listed and ended', async () => {
  const uri = 'http://127.0.0.1/authorization'
  const { verifier, url } = request('quayside-cli', uri)
  const form = (await own.open(url)).location
  await own.open(form)
  let opened = await own.open(form, {})
  for (let step = 0; step < 4 && !opened.location.startsWith(uri); step++) opened = await own.open(opened.location)
  const code = new URL(opened.location).searchParams.get('code') ?? ''
  const cli = { client_id: 'quayside-cli' }
  const { refresh: refresh_token = '' } = await token({
    ...{ grant_type: 'authorization_code', redirect_uri: uri, code, code_verifier: verifier, ...cli },
  })
  const shown = await own.open(page)
  const [, id = ''] = /Command line, node.*?name="id" value="([\w-]{43})"/s.exec(shown.text) ?? []
  await own.open(page, { action: 'end', id })
  assert.deepEqual(await token({ grant_type: 'refresh_token', refresh_token, ...cli }), {
    access: undefined,
    refresh: undefined,
  })
  assert.ok(await isSignedIn(own))
})

test('a form without the token of this session changes nothing', async () => {
  const [id = ''] = idsIn(await own.open(page))
  const theirs = await third.open(page)
  const foreign = /name="form" value="([^"]+)"/.exec(theirs.text)?.[1] ?? ''
  for (const form of ['', 'x', foreign]) {
    assert.equal((await own.open(page, { form, action: 'end', id })).status, 403)
    assert.equal((await own.open(page, { form, action: 'end-others' })).status, 403)
  }
  assert.ok(await isSignedIn(third))
  await own.open(page)
  for (const action of ['', 'x', '__proto__']) assert.equal((await own.open(page, { action, id })).status, 400)
})

test('the session of somebody else is neither listed nor ended', async () => {
  const invited = await call(
    platform.a.tokens.ADMIN,
    'POST',
    `/organization/${platform.a.organizationId}/inviteMember`,
    {
      email: 'eve@example.org',
      role: 'VIEWER',
    },
  )
  const eve = newBrowser()
  const her = { email: 'eve@example.org', password: 'a horse of another colour' }
  await eve.open(Object(invited.body).invitation_link, { name: 'Eve', password: her.password })
  const form = (await eve.open(request().url)).location
  await eve.open(form)
  let opened = await eve.open(form, her)
  for (let step = 0; step < 6 && isOurs(opened.location); step++) opened = await eve.open(opened.location)
  assert.match((await eve.open(page)).text, /signed in as eve@example\.org/)
  assert.deepEqual(idsIn(await eve.open(page)), [])
  const [row] = await database<{ id_hash: string }[]>`
    select id_hash from issuer_record where model = 'Session' and account_id <> (
      select id from account where email = 'eve@example.org') limit 1`
  await eve.open(page, { action: 'end', id: row?.id_hash ?? '' })
  assert.deepEqual([await isSignedIn(own), await isSignedIn(third)], [true, true])
  await eve.open(page, { action: 'end-others' })
  assert.deepEqual([await isSignedIn(own), await isSignedIn(third), await isSignedIn(eve)], [true, true, true])
})

test('a changed password ends every other session, also one that is about to begin', async () => {
  const late = newBrowser()
  const form = (await late.open(request().url)).location
  await late.open(form)
  const { location: resume } = await late.open(form, person)
  const console = await tokensOf(third)
  const next = 'a battery of staple horses'
  for (const [current, wanted, status] of [
    ['wrong horse battery', next, 403],
    [person.password, 'short', 400],
    ['', next, 403],
  ] as const) {
    await own.open(page)
    assert.equal((await change(own, current, wanted)).status, status, `${current} ${wanted}`)
  }
  assert.ok(await isSignedIn(third))
  await own.open(page)
  assert.match((await change(own, person.password, next)).text, /The password is changed/)
  assert.deepEqual([await isSignedIn(own), await isSignedIn(third)], [true, false])
  assert.equal((await late.open(resume)).status, 400, 'a sign-in with the old password')
  await makeOlder()
  assert.equal(await statusOf(console.access), 401)
  assert.ok((await signIn(newBrowser())).text.includes('The email address or the password is wrong.'))
  assert.ok((await signIn(newBrowser(), next)).location.startsWith(redirect_uri))
})

test('wrong current passwords make the next attempt wait', async () => {
  const statuses: number[] = []
  for (let count = 0; count < 7; count++) {
    await own.open(page)
    statuses.push((await change(own, 'wrong horse battery', 'a battery of staple horses')).status)
  }
  assert.deepEqual(statuses.slice(0, 3), [403, 403, 403])
  assert.equal(statuses.at(-1), 429)
})
