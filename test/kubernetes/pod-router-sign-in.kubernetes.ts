import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { TestApplication } from '../support/application.ts'
import { type Browser, createBrowser, type Opened } from '../support/browser.ts'
import { type SecureAnswer, type SecureClient, secureClient } from '../support/https.ts'
import { issued } from '../support/issued.ts'
import { get } from '../support/traffic.ts'
import { headersPage } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { addresses } from './cluster/settings.ts'
import { openPodRouterPlace, type PodRouterPlace, routerPorts } from './support/pod-router-place.ts'
import { serialAt } from './support/secure-traffic.ts'

// Routers in pods of a cluster without public names: certificates of the authority of the
// installation, and applications behind the sign-in. The tests build on each other.

const domain = 'far.home.arpa'
let place: PodRouterPlace
let client: SecureClient
let root: string
let dashboard: TestApplication
let other: TestApplication
const nameOf = ({ url }: TestApplication): string => new URL(url).hostname
const html = { accept: 'text/html' }

before(
  async () => {
    place = await openPodRouterPlace({ folder: 'pod-sign-in', domain, env: { QUAYSIDE_ACME_DIRECTORY: 'local' } })
    dashboard = await place.application('dashboard')
    await dashboard.run(headersPage)
    other = await place.application('other')
    await other.run(headersPage)
  },
  { timeout: 400_000 },
)
after(async () => {
  client?.close()
  for (const one of [dashboard, other]) await one?.git.remove()
  await place?.close()
})

/** Asks an application at the node, or at one of the routers. */
const ask = (of: TestApplication, path: string, headers: Readonly<Record<string, string>>, pod?: string) =>
  client.ask(nameOf(of), {
    ...{ host: pod ?? addresses.node, port: pod ? 8443 : routerPorts.tls, path },
    headers: { host: nameOf(of), ...headers },
  })
const seen = () => place.server.output.slice(-15)

test('names of the cluster have certificates of the authority of the installation in every router', {
  timeout: 120_000,
}, async () => {
  const file = join(place.server.dataDirectory, 'authority.pem')
  await until('the root is published', () => readFile(file).catch(() => undefined), { limitMs: 60_000, seen })
  root = await readFile(file, 'utf8')
  client = secureClient({ port: routerPorts.tls, root })
  for (const one of [dashboard, other]) {
    const isSecure = async () => (await ask(one, '/', {}).catch(() => undefined))?.status === 200
    await until('it answers over HTTPS', isSecure, { limitMs: 60_000, seen })
  }
  const pods = await place.readyPods()
  const serials = await Promise.all(pods.map(({ address }) => serialAt(address, 8443, root, nameOf(dashboard))))
  assert.equal(serials.length, 2)
  assert.equal(new Set(serials).size, 1)
  await assert.rejects(serialAt(addresses.node, routerPorts.tls, issued.root, nameOf(dashboard)), /unable to verify/)
  assert.equal((await get(`http://${nameOf(dashboard)}:${routerPorts.plain}/`, undefined, addresses.node)).status, 308)
})

test('a custom domain without a public name has such a certificate too', { timeout: 60_000 }, async () => {
  const name = 'intranet'
  const body = { domain: `shop.${name}`, generate_certificate: true }
  await place.server.must('POST', `/application/${dashboard.id}/customDomain`, body)
  const isSecure = () =>
    client.ask(body.domain, { host: addresses.node }).then(
      ({ status }) => status === 200,
      () => false,
    )
  await until('it answers over HTTPS', isSecure, { limitMs: 30_000, seen })
})

const setRoles = (of: TestApplication, roles: string | null) =>
  place.server.must('PUT', `/application/${of.id}/advancedSettings`, { 'network.router.sign_in': roles })
const person = { name: 'Vic', email: 'vic@example.org', password: 'a long enough password' }
let browser: Browser
let publicUrl: string

/** Invites a person, who creates an account. */
async function inviteAndJoin(): Promise<void> {
  const path = `/organization/${place.server.organizationId}/inviteMember`
  const invited = { email: person.email, role: 'VIEWER' }
  const { invitation_link: link } = await place.server.must<{ invitation_link: string }>('POST', path, invited)
  publicUrl = new URL(link).origin
  browser = createBrowser(place.server.apiUrl, publicUrl)
  assert.equal((await browser.open(link, { name: person.name, password: person.password })).status, 200)
}

const cookiesOf = ({ headers }: SecureAnswer): string =>
  [headers['set-cookie'] ?? []]
    .flat()
    .map((one) => String(one).split(';', 1)[0])
    .join('; ')

/** Opens a page that sends the browser to the sign-in. Returns where to, and the cookie. */
async function begin(of: TestApplication): Promise<{ readonly location: string; readonly cookie: string }> {
  const answer = await ask(of, '/report', html)
  assert.equal(answer.status, 302)
  return { location: String(answer.headers['location']), cookie: cookiesOf(answer) }
}

/** Signs the person in at the platform if it asks for that. Returns the address with the token. */
async function pass(location: string): Promise<URL> {
  const started = await browser.open(location)
  assert.equal(started.status, 303, started.text)
  const back = started.location.includes('/.well-known/') ? started.location : addressIn(await signIn(started))
  return new URL(back)
}
async function signIn(started: Opened): Promise<Opened> {
  const { location: form } = await browser.open(started.location)
  assert.match((await browser.open(form)).text, /to go on to dashboard/)
  const resumed = await browser.open((await browser.open(form, person)).location)
  return browser.open(resumed.location)
}
const addressIn = ({ text }: Opened): string =>
  /url=([^"]+)"/.exec(text)?.[1]?.replaceAll('&#38;', '&') ?? assert.fail(text)

/** Opens a session. Returns its cookie. */
async function enter(of: TestApplication): Promise<string> {
  const { location, cookie } = await begin(of)
  const back = await pass(location)
  assert.equal(back.origin, `https://${nameOf(of)}`)
  const entered = await ask(of, back.pathname + back.search, { ...html, cookie })
  assert.deepEqual([entered.status, entered.headers['location']], [303, '/report'])
  return cookiesOf(entered)
}

/** Waits until the application answers a session with this status at every router. */
async function reaches(of: TestApplication, cookie: string, status: number): Promise<void> {
  const statuses = async () => {
    const pods = await place.readyPods()
    return Promise.all(pods.map(async ({ address }) => (await ask(of, '/', { ...html, cookie }, address)).status))
  }
  const isReached = async () => (await statuses()).every((one) => one === status)
  await until(`every router answers ${status}`, isReached, { limitMs: 30_000, seen })
}

let session: string

test('an application behind the sign-in redirects pages to the platform, and refuses everything else', {
  timeout: 90_000,
}, async () => {
  await inviteAndJoin()
  for (const one of [dashboard, other]) {
    await setRoles(one, 'member')
    await reaches(one, '', 302)
  }
  assert.equal((await ask(dashboard, '/', {})).status, 401)
  const bearer = { authorization: `Bearer ${place.server.token}` }
  assert.equal((await ask(dashboard, '/', bearer)).status, 401)
  const { location, cookie } = await begin(dashboard)
  assert.ok(location.startsWith(`${publicUrl}/oidc/applications?`), location)
  assert.match(cookie, /^__Host-quayside-start-/)
  const plain = `http://${nameOf(dashboard)}:${routerPorts.plain}/report`
  assert.equal((await get(plain, undefined, addresses.node, html)).status, 308)
})

test('a person who signs in at the platform enters at every router, and the application learns who it is', {
  timeout: 60_000,
}, async () => {
  session = await enter(dashboard)
  assert.match(session, /__Host-quayside-access-/)
  for (const { address } of await place.readyPods()) {
    const forged = { 'x-forwarded-email': 'ada@example.org' }
    const answer = await ask(dashboard, '/inside', { ...html, ...forged, cookie: session }, address)
    assert.equal(answer.status, 200)
    const { url, headers } = JSON.parse(/<pre>(.*)<\/pre>/.exec(answer.body)?.[1] ?? '')
    assert.deepEqual([url, headers['x-forwarded-email'], headers.cookie], ['/inside', person.email, undefined])
  }
})

test('a token and a session of another service are refused', { timeout: 60_000 }, async () => {
  const [mine, theirs] = [await begin(dashboard), await begin(other)]
  const back = await pass(theirs.location)
  const cookie = `${mine.cookie}; ${theirs.cookie}`
  const astray = await ask(dashboard, back.pathname + back.search, { ...html, cookie })
  assert.equal(astray.headers['set-cookie'], undefined)
  assert.notEqual(astray.headers['location'], '/report')
  const entered = await ask(other, back.pathname + back.search, { ...html, cookie })
  assert.equal(entered.headers['location'], '/report')
  const foreign = cookiesOf(entered)
  assert.equal((await ask(other, '/', { cookie: foreign })).status, 200)
  assert.equal((await ask(dashboard, '/', { cookie: foreign })).status, 401)
  // Under the name of the cookie that this service has.
  const [name = ''] = session.split('=')
  const value = foreign.slice(foreign.indexOf('=') + 1)
  assert.equal((await ask(dashboard, '/', { cookie: `${name}=${value}` })).status, 401)
})

test('a person who loses the role is refused by every router', { timeout: 60_000 }, async () => {
  await setRoles(dashboard, 'DevOps')
  await reaches(dashboard, session, 403)
  await setRoles(dashboard, 'DevOps, Viewer')
  await reaches(dashboard, session, 200)
})

test('a person who signs out is sent to the sign-in by every router', { timeout: 60_000 }, async () => {
  const page = await browser.open('/oidc/v2/logout')
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.text)?.[1] ?? assert.fail(page.text)
  await browser.open('/oidc/v2/logout/confirm', { xsrf, logout: 'yes' })
  await reaches(dashboard, session, 302)
  session = await enter(dashboard)
  await reaches(dashboard, session, 200)
})

test('a session lasts while the platform is away', { timeout: 120_000 }, async () => {
  await place.server.kill9()
  await reaches(dashboard, session, 200)
  assert.equal((await ask(dashboard, '/', {})).status, 401)
  await place.server.restart({ env: place.env })
  await setRoles(dashboard, null)
  await reaches(dashboard, '', 200)
})
