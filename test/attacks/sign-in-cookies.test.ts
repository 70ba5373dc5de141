import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createBrowser } from '../support/browser.ts'
import { createPlatform } from '../support/platform.ts'

// The cookies that bind a sign-in to a browser, as the server reads and writes them over HTTPS.
// test/browser/hostile-siblings.test.ts has what browsers accept.

const publicUrl = 'https://quayside.example.org'
const platform = await createPlatform({ after }, { settings: { QUAYSIDE_PUBLIC_URL: publicUrl } })
const origin = await platform.listen()
const person = { email: 'ada@example.org', password: 'correct horse battery' }
const setup = (await platform.accounts.firstAccountLink()) ?? ''
assert.equal((await createBrowser(origin, publicUrl).open(setup, { name: 'Ada', ...person })).status, 200)

const authorize = `/oidc/authorize?${new URLSearchParams({
  client_id: 'quayside-console',
  response_type: 'code',
  scope: 'openid',
  redirect_uri: `${publicUrl}/login/auth0-callback`,
  state: 'a state',
  code_challenge: 'x'.repeat(43),
  code_challenge_method: 'S256',
})}`

const get = (path: string, cookies: readonly string[] = []) =>
  fetch(origin + path, { redirect: 'manual', headers: { cookie: cookies.join('; ') } })

/** Begins a sign-in. Returns the path of its page, its id, and the cookies of the browser. */
async function begin(cookies: readonly string[] = []) {
  const answer = await get(authorize, cookies)
  const form = answer.headers.get('location') ?? ''
  const set = answer.headers.getSetCookie()
  const pairs = set.map((cookie) => cookie.split(';', 1)[0] ?? '')
  return { form, uid: form.split('/').at(-1) ?? '', set, pairs }
}

test('every cookie of a sign-in is of this host alone, from its beginning to the sign-out', async () => {
  const browser = createBrowser(origin, publicUrl)
  const set: string[] = []
  const open = async (path: string, form?: Readonly<Record<string, string>>) => {
    const opened = await browser.open(path, form)
    set.push(...opened.headers.getSetCookie())
    return opened
  }
  const { location: page } = await open(authorize)
  await open(page)
  const { location: resume } = await open(page, person)
  const { location } = await open(resume)
  assert.ok(location.startsWith(`${publicUrl}/login/auth0-callback?code=`), location)
  await open('/oidc/device')
  const { text } = await open('/oidc/v2/logout')
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(text)?.[1] ?? assert.fail(text)
  await open('/oidc/v2/logout/confirm', { xsrf, logout: 'yes' })
  assert.ok(set.length >= 5, set.join('\n'))
  for (const cookie of set) {
    assert.match(cookie, /^__Host-quayside-[\w.-]+=/)
    const attributes = cookie.toLowerCase().split('; ').slice(1)
    for (const wanted of ['path=/', 'secure', 'httponly', 'samesite=lax'])
      assert.ok(attributes.includes(wanted), cookie)
    assert.ok(!attributes.some((attribute) => attribute.startsWith('domain')), cookie)
  }
})

test('a page of a sign-in is for the browser that began it, whatever other cookies say', async () => {
  const [own, foreign] = [await begin(), await begin()]
  const planted = [`_interaction=${foreign.uid}`, `_interaction_resume=${foreign.uid}`]
  const values = foreign.pairs.map((pair) => pair.slice(pair.indexOf('=') + 1))
  const wrong: readonly (readonly string[])[] = [
    [],
    planted,
    own.pairs,
    [...own.pairs, ...planted],
    foreign.pairs.map((pair) => pair.replace('__Host-', '')),
    foreign.pairs.map((pair) => pair.replace('__Host-', '__host-')),
    foreign.pairs.map((pair) => `\u00a0${pair}`),
    foreign.pairs.map((pair) => `x=y,${pair}`),
    values.map((value) => `__Host-quayside-sign-in-${own.uid}=${value}`),
    [`__Host-quayside-sign-in-${foreign.uid}=`],
    [`__Host-quayside-sign-in-${foreign.uid}=${foreign.uid}`],
    own.pairs.map((pair) => `__Host-quayside-sign-in-${foreign.uid}=${pair.split('=')[1]}`),
  ]
  for (const cookies of wrong) {
    const what = cookies.join('; ')
    for (const path of [foreign.form, `${foreign.form}/0`]) assert.equal((await get(path, cookies)).status, 404, what)
    assert.equal((await get(`/oidc/authorize/${foreign.uid}`, cookies)).status, 400, what)
    assert.equal((await get(`/oidc/device/${foreign.uid}`, cookies)).status, 400, what)
  }
  assert.equal((await get(foreign.form, foreign.pairs)).status, 200)
})

test('cookies of the library, in any order and number, hide no sign-in of the browser', async () => {
  const [own, foreign] = [await begin(), await begin()]
  const planted = [`_interaction=${foreign.uid}`, '_interaction=', '_interaction.sig=x', '_interaction']
  for (const cookies of [
    [...planted, ...own.pairs],
    [...own.pairs, ...planted],
  ]) {
    const answer = await get(own.form, cookies)
    assert.equal(answer.status, 200)
    assert.ok((await answer.text()).includes(`action="${own.form}"`))
  }
})

test('a form of a sign-in counts with the token of its page alone', async () => {
  const [own, other] = [await begin(), await begin()]
  const tokenIn = async ({ form, pairs }: typeof own) =>
    /name="form" value="([^"]+)"/.exec(await (await get(form, pairs)).text())?.[1] ?? ''
  const post = (form: Readonly<Record<string, string>>) =>
    fetch(origin + own.form, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: own.pairs.join('; ') },
      body: new URLSearchParams({ ...person, ...form }),
    })
  for (const form of [{}, { form: '' }, { form: await tokenIn(other) }, { form: own.pairs[0]?.split('=')[1] ?? '' }]) {
    assert.equal((await post(form)).status, 403)
  }
  assert.equal((await post({ form: await tokenIn(own) })).status, 303)
})

test('a browser that begins sign-ins without end keeps the last of them', async () => {
  let jar: string[] = []
  const sizes: number[] = []
  for (let count = 0; count < 30; count++) {
    const { set, pairs } = await begin(jar)
    const ended = set
      .filter((cookie) => cookie.includes('expires=Thu, 01 Jan 1970'))
      .map((cookie) => cookie.split('=')[0])
    jar = [...jar, ...pairs].filter((pair) => !ended.includes(pair.split('=')[0]))
    sizes.push(jar.join('; ').length)
  }
  assert.equal(jar.length, 12)
  assert.ok(Math.max(...sizes) < 2_000, `${Math.max(...sizes)} bytes`)
  const uid = jar.at(-1)?.split('=')[0]?.slice('__Host-quayside-sign-in-'.length)
  assert.equal((await get(`/oidc/sign-in/${uid}`, jar)).status, 200)
})
