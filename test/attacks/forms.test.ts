import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createBrowser } from '../support/browser.ts'
import { publicUrl } from '../support/people.ts'
import { createPlatform } from '../support/platform.ts'

/**
 * Pages of accounts and the issuer get bodies of any form. A refusal is 4xx with a reason, never
 * 500.
 */
const platform = await createPlatform({ after })
const { a, accounts, rooms } = platform
const origin = await platform.listen()
const setup = String(await accounts.firstAccountLink()).slice(publicUrl.length)
const inviter = { id: a.organizationId, kind: 'token', name: 'test', accountId: undefined } as const
const rights = { permissions: ['ADMIN'] } as const
const caller = { ...inviter, ...rights, rights, organizationId: a.organizationId }
const invitation = await rooms.invitations.create(a.organizationId, caller, { email: 'form@a.example' })
const join = String(invitation.invitation_link).slice(publicUrl.length)

const query = new URLSearchParams({
  client_id: 'quayside-console',
  response_type: 'code',
  scope: 'openid',
  redirect_uri: `${publicUrl}/login/auth0-callback`,
  code_challenge: 'x'.repeat(43),
  code_challenge_method: 'S256',
})
const routes = [
  setup,
  join,
  '/setup/nothing',
  '/join/nothing',
  '/oidc/authorize',
  `/oidc/authorize?${query}`,
  '/oidc/authorize/nothing',
  '/oidc/oauth/token',
  '/oidc/oauth/device/code',
  '/oidc/oauth/revoke',
  '/oidc/device',
  '/oidc/device/nothing',
  '/oidc/device?user_code=x',
  '/oidc/userinfo',
  '/oidc/v2/logout',
  '/oidc/v2/logout/confirm',
  '/oidc/v2/logout/success',
  '/oidc/sign-in/nothing',
  '/oidc/.well-known/jwks.json',
  '/oidc/.well-known/openid-configuration',
  '/oidc/nothing',
  '/oidc/',
]
const form = 'application/x-www-form-urlencoded'
const bodies: readonly { readonly type?: string; readonly body?: string | Buffer }[] = [
  {},
  { type: form },
  { type: form, body: '' },
  { type: form, body: '=&&=&%' },
  { type: form, body: '%ff%00%zz=%ff&__proto__=1&constructor=2' },
  { type: form, body: 'user_code[a]=1&user_code[]=2&xsrf[x]=3&client_id[toString]=1' },
  { type: form, body: 'user_code=a&user_code=b&xsrf=1&xsrf=2&client_id=a&client_id=b&name=a&name=b' },
  { type: form, body: 'xsrf=x&user_code=ABCD-EFGH&confirm=yes&abort=yes&logout=yes' },
  { type: form, body: 'client_id=quayside-cli&scope=%00&grant_type=x' },
  { type: form, body: `name=${'x'.repeat(7000)}&email=${'y'.repeat(900)}&password=z` },
  { type: form, body: `user_code=${'x'.repeat(300_000)}` },
  { type: form, body: Buffer.from([0x61, 0x3d, 0xff, 0xfe, 0x00]) },
  { type: `${form}; charset=utf-16`, body: 'user_code=x' },
  { type: 'application/json', body: '{"user_code":{"a":1}}' },
  { type: 'application/json', body: '{"broken' },
  { type: 'application/json', body: 'null' },
  {
    type: 'multipart/form-data; boundary=x',
    body: '--x\r\nContent-Disposition: form-data; name="user_code"\r\n\r\nX\r\n--x--',
  },
  { type: 'text/plain', body: 'user_code=x' },
  { type: 'nonsense', body: 'x' },
]

for (const path of routes) {
  test(`${path.replace(/[\w-]{30,}.*/, '…')} answers any form with less than 500`, async () => {
    const asBrowser = createBrowser(origin, publicUrl)
    await asBrowser.open('/oidc/device')
    for (const method of ['GET', 'POST']) {
      for (const { type, body } of method === 'GET' ? [{}] : bodies) {
        const answer = await fetch(`${origin}${path}`, {
          method,
          redirect: 'manual',
          headers: type ? { 'content-type': type } : {},
          ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
        })
        const text = await answer.text()
        const what = `${method} ${type} ${String(body).slice(0, 60)}: ${answer.status} ${text.slice(0, 300)}`
        assert.ok(answer.status < 500, what)
        if (answer.status >= 400) assert.ok(text.length > 0, what)
      }
    }
  })
}

test('a device code without its form is 400, and the page says what to do', async () => {
  for (const path of ['/oidc/device', '/oidc/device?user_code=x']) {
    const answer = await fetch(`${origin}${path}`, { method: 'POST' })
    assert.equal(answer.status, 400)
    assert.match(await answer.text(), /Open http:\/\/localhost:3000\/oidc\/device again/)
  }
})
