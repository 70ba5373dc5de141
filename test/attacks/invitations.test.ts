import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { builtInRoleId } from '../../server/access/index.ts'
import { createSignIn } from '../../server/accounts/sign-in.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { createBrowser } from '../support/browser.ts'
import { addPerson, publicUrl, signIn, tokenWithRole } from '../support/people.ts'
import { createPlatform } from '../support/platform.ts'

/**
 * Invitations: only the link proves one. Anybody can have an account with any address, because no
 * mail is sent.
 */
const platform = await createPlatform({ after })
const { a, b, call, database } = platform
const origin = await platform.listen()
const [corp, elsewhere] = [`/organization/${a.organizationId}`, `/organization/${b.organizationId}`]
const password = 'correct horse battery'

interface Invited {
  readonly id: string
  readonly link: string
}
async function invite(token: string, organization: string, email: string, role = 'ADMIN'): Promise<Invited> {
  const made = await call(token, 'POST', `${organization}/inviteMember`, { email, role })
  assert.equal(made.status, 201, made.text)
  const { id, invitation_link: link } = Object(made.body)
  return { id, link }
}

const open = (link: string, form?: Readonly<Record<string, string>>) =>
  createBrowser(origin, publicUrl).open(link, form)
const joinAnew = (link: string, given = password) => open(link, { name: 'Eve', password: given })

/** The accounts with the address, the oldest first. */
const accountsOf = (email: string) =>
  database<{ id: string; email: string; organizations: string[] }[]>`
    select a.id, a.email, array(select organization_id::text from member where account_id = a.id) as organizations
    from account a where lower(a.email) = lower(${email}) order by a.created_at, a.id`

test('an account with the invited address that somebody made elsewhere does not accept the invitation', async () => {
  const email = 'new.admin@corp.example'
  const { id } = await invite(a.tokens.ADMIN, corp, email)
  const own = await invite(b.tokens.ADMIN, elsewhere, email, 'VIEWER')
  assert.equal((await joinAnew(own.link)).status, 200)
  const [stranger] = await accountsOf(email)
  assert.ok(stranger)
  const jwt = await signIn(platform, stranger.id)
  for (const body of [undefined, {}, { invitation_link: own.link }, { invitation_link: id }]) {
    const answer = await call(jwt, 'POST', `${corp}/inviteMember/${id}`, body)
    assert.equal(answer.status, 404, answer.text)
  }
  assert.equal((await call(jwt, 'GET', corp)).status, 404)
})

test('only callers who may invite see ids, addresses and roles of invitations', async () => {
  const { id, link } = await invite(a.tokens.ADMIN, corp, 'unseen@corp.example')
  const made = await call(a.tokens.ADMIN, 'POST', `${corp}/customRole`, { name: 'without projects' })
  const tokens = [a.tokens.READ, a.tokens.DEPLOY, a.tokens.WRITE]
  for (const builtIn of ['VIEWER', 'DEVOPS', 'BILLING_MANAGER'] as const) {
    tokens.push(await tokenWithRole(platform, a.organizationId, { builtIn }))
  }
  tokens.push(await tokenWithRole(platform, a.organizationId, Object(made.body).id))
  for (const token of tokens) {
    for (const path of [`${corp}/inviteMember`, `${corp}/inviteMember/${id}`]) {
      const answer = await call(token, 'GET', path)
      assert.equal(answer.status, 403, answer.text)
    }
  }
  const listed = Object((await call(a.tokens.ADMIN, 'GET', `${corp}/inviteMember`)).body).results
  assert.equal(listed.find((one: { id: string }) => one.id === id).invitation_link, link)
  const events = await call(a.tokens.ADMIN, 'GET', `${corp}/events`)
  const rows = await database`select t::text as text from audit_event t`
  assert.ok(!events.text.includes(link) && !JSON.stringify(rows).includes(link), 'the link is a secret')
})

test('an address that a stranger took beforehand does not lock out the holder of the link', async () => {
  const email = 'taken@corp.example'
  const squat = await invite(b.tokens.ADMIN, elsewhere, email, 'VIEWER')
  assert.equal((await joinAnew(squat.link, 'the password of a stranger')).status, 200)
  const { link } = await invite(a.tokens.ADMIN, corp, email.toUpperCase())
  assert.equal((await joinAnew(link)).status, 200)
  const [stranger, person, ...others] = await accountsOf(email)
  assert.deepEqual(others, [])
  assert.deepEqual(stranger?.organizations, [b.organizationId], 'the account of the stranger is unchanged')
  assert.deepEqual(person?.organizations, [a.organizationId])
  const toSignIn = createSignIn({ database, clock: systemClock })
  const signedIn = (given: string) => toSignIn({ email, password: given, address: '192.0.2.1' })
  assert.equal(await signedIn(password), person?.id)
  assert.equal(await signedIn('the password of a stranger'), stranger?.id)
})

test('a new account of the link’s holder does not become that of a stranger with the same password', async () => {
  const email = 'easy@corp.example'
  const squat = await invite(b.tokens.ADMIN, elsewhere, email, 'VIEWER')
  assert.equal((await joinAnew(squat.link, 'password12345')).status, 200)
  const { link } = await invite(a.tokens.ADMIN, corp, email)
  const { status, text } = await joinAnew(link, 'password12345')
  assert.equal(status, 400)
  assert.match(text, /This password cannot be used/)
  const accounts = await accountsOf(email)
  assert.deepEqual(
    accounts.map(({ organizations }) => organizations),
    [[b.organizationId]],
  )
  assert.equal((await joinAnew(link, 'another password of hers')).status, 200)
})

test('an invitation takes nothing from the account of somebody real in another organization', async () => {
  const email = 'boss@corp.example'
  const first = await invite(a.tokens.ADMIN, corp, email)
  assert.equal((await joinAnew(first.link)).status, 200)
  const before = await accountsOf(email)
  const attack = await invite(b.tokens.ADMIN, elsewhere, email)
  assert.equal((await joinAnew(attack.link, 'chosen by the attacker')).status, 200)
  const [boss, attacker] = await accountsOf(email)
  assert.deepEqual(boss, before[0])
  assert.deepEqual(attacker?.organizations, [b.organizationId])
  const jwt = await signIn(platform, attacker?.id ?? '')
  assert.equal((await call(jwt, 'GET', corp)).status, 404)
})

test('a person with an account joins with it, and a wrong password neither joins nor creates an account', async () => {
  const email = 'known@corp.example'
  const first = await invite(a.tokens.ADMIN, corp, email)
  assert.equal((await joinAnew(first.link)).status, 200)
  const { link } = await invite(b.tokens.ADMIN, elsewhere, email)
  assert.equal((await open(`${link}?account`, { password: 'not the password' })).status, 401)
  assert.equal((await accountsOf(email)).length, 1)
  assert.equal((await open(`${link}?account`, { password })).status, 200)
  const [known] = await accountsOf(email)
  assert.deepEqual(new Set(known?.organizations), new Set([a.organizationId, b.organizationId]))
})

test('the page of an invitation is the same whether or not its address has an account', async () => {
  const [known, unknown] = ['page.known@corp.example', 'page.unknown@corp.example']
  const first = await invite(a.tokens.ADMIN, corp, known)
  assert.equal((await joinAnew(first.link)).status, 200)
  const links = [known, unknown].map((email) => invite(b.tokens.ADMIN, elsewhere, email))
  const [ofKnown, ofUnknown] = await Promise.all(links)
  assert.ok(ofKnown && ofUnknown)
  const seen = async (link: string, email: string, form?: Record<string, string>) => {
    const { status, text } = await open(link, form)
    return `${status} ${text.replaceAll(email, 'ADDRESS')}`
  }
  const forms: [string, Record<string, string>?][] = [
    [''],
    ['?account'],
    ['?account', { password: 'not the password' }],
    ['', { name: 'Eve', password: 'short' }],
    ['', { name: 'Eve', password: 'a new password of hers' }],
  ]
  for (const [query, form] of forms) {
    const answers: string[] = [
      await seen(`${ofKnown.link}${query}`, known, form),
      await seen(`${ofUnknown.link}${query}`, unknown, form),
    ]
    assert.equal(answers[0], answers[1])
  }
})

test('guesses of a password through invitations count as attempts to sign in', async () => {
  const email = 'guessed@corp.example'
  const first = await invite(a.tokens.ADMIN, corp, email)
  assert.equal((await joinAnew(first.link)).status, 200)
  const statuses: number[] = []
  for (let guess = 0; guess < 6; guess++) {
    const { link } = await invite(b.tokens.ADMIN, elsewhere, email)
    statuses.push((await joinAnew(link, `guess number ${guess}`)).status)
    await database`delete from member where organization_id = ${b.organizationId}`
    await database`delete from invitation where organization_id = ${b.organizationId}`
  }
  assert.equal(statuses.at(-1), 429, statuses.join())
})

test('an invitation ends when its inviter may no longer invite, and with the membership', async () => {
  const owner = await addPerson(database, {
    email: 'owner@corp.example',
    member: { organizationId: a.organizationId, role: 'OWNER' },
  })
  const asOwner = await signIn(platform, owner.id)
  const admin = await addPerson(database, {
    email: 'admin@corp.example',
    member: { organizationId: a.organizationId, role: 'ADMIN' },
  })
  const asAdmin = await signIn(platform, admin.id)
  const made = await call(asAdmin, 'POST', `${corp}/apiToken`, { name: 'invites', scope: 'ADMIN' })
  const byPerson = await invite(asAdmin, corp, 'second.self@corp.example')
  const byToken = await invite(Object(made.body).token, corp, 'third.self@corp.example')
  const become = async (role: 'VIEWER' | 'ADMIN') => {
    const role_id = builtInRoleId(a.organizationId, role)
    assert.equal((await call(asOwner, 'PUT', `${corp}/member`, { user_id: admin.id, role_id })).status, 200)
  }
  await become('VIEWER')
  for (const { id, link } of [byPerson, byToken]) {
    assert.equal((await open(link)).status, 404)
    assert.equal((await joinAnew(link)).status, 404)
    const shown = await call(asOwner, 'GET', `${corp}/inviteMember/${id}`)
    assert.equal(Object(shown.body).invitation_status, 'EXPIRED')
  }
  await invite(asOwner, corp, 'second.self@corp.example')
  await become('ADMIN')
  assert.equal((await open(byToken.link)).status, 200)
  assert.equal((await call(asOwner, 'DELETE', `${corp}/member`, { user_id: admin.id })).status, 204)
  assert.equal((await open(byToken.link)).status, 404)
  assert.equal((await call(asOwner, 'GET', `${corp}/inviteMember/${byToken.id}`)).status, 404)
})
