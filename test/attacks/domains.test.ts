import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startNameServer } from '../support/name-server.ts'
import { createPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

/** I20 and I21: domains that belong to somebody else. DNS is a server on the loopback device. */
const names = await startNameServer({ after })
const platform = await createPlatform(
  { after },
  {
    works: true,
    settings: {
      QUAYSIDE_DOMAIN: 'apps.platform.example',
      QUAYSIDE_PUBLIC_URL: 'https://quayside.platform.example',
      QUAYSIDE_NAME_SERVERS: names.address,
      // The repository of the fixture is on localhost.
      QUAYSIDE_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
    },
  },
)
const { a, b, call, database, router } = platform
type Owner = typeof a

interface Domain {
  readonly id: string
  readonly domain: string
  readonly status: string
  readonly validation_domain: string
  readonly proof: {
    state: string
    method: string | null
    message: string | null
    records: { type: string; name: string; value: string }[]
  }
}

const pathOf = (owner: Owner): string => `/application/${owner.objects.applicationId}/customDomain`
const ask = (owner: Owner, domain: string) =>
  call(owner.tokens.WRITE, 'POST', pathOf(owner), { domain, generate_certificate: false })
async function add(owner: Owner, domain: string): Promise<Domain> {
  const answer = await ask(owner, domain)
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Domain
}
const read = async (owner: Owner, id: string): Promise<Domain> =>
  (await call(owner.tokens.READ, 'GET', `${pathOf(owner)}/${id}/status`)).body as Domain
const reach = (owner: Owner, { id }: Domain, state: string): Promise<Domain> =>
  until(`the domain is ${state}`, async () => {
    const domain = await read(owner, id)
    return domain.proof.state === state && domain
  })
/** Makes the next check of the domain due and waits until DNS was asked. */
async function askAgain(owner: Owner, domain: Domain): Promise<Domain> {
  await database`update custom_domain set next_ask_at = now(), asked_at = null where id = ${domain.id}`
  return asked(owner, domain)
}
const asked = (owner: Owner, { id, domain }: Domain): Promise<Domain> =>
  until(`DNS was asked about ${domain}`, async () => {
    const [row] = await database<{ asked_at: Date | null }[]>`select asked_at from custom_domain where id = ${id}`
    return row?.asked_at ? read(owner, id) : undefined
  })
async function serviceOf(domain: string): Promise<string | undefined> {
  const version = await database<{ version: string }[]>`select version from route_version`
  assert.equal(version.length, 1)
  return router.routes.find(({ host }) => host === domain)?.service
}
const routed = (owner: Owner, domain: string) =>
  until(`${domain} is routed`, async () => (await serviceOf(domain)) === owner.objects.applicationId)
const unrouted = (domain: string) =>
  until(`${domain} has no route`, async () => (await serviceOf(domain)) === undefined)
async function prove(owner: Owner, domain: string): Promise<Domain> {
  const made = await add(owner, domain)
  names.zones.set(domain, { CNAME: made.validation_domain })
  await askAgain(owner, made)
  return reach(owner, made, 'PROVEN')
}

test('I21: a name without a proof is pending, has no route, and reports the missing record', async () => {
  const made = await add(b, 'login.one.example')
  assert.equal(made.status, 'VALIDATION_PENDING')
  assert.deepEqual(made.proof.records, [
    { type: 'CNAME', name: 'login.one.example', value: made.validation_domain },
    { type: 'TXT', name: '_quayside.login.one.example', value: `quayside-organization=${b.organizationId}` },
  ])
  const asked = await askAgain(b, made)
  assert.equal(asked.proof.state, 'PENDING')
  assert.match(asked.proof.message ?? '', /login\.one\.example has no CNAME record, and no TXT record/)
  await unrouted('login.one.example')
  const links = await call(b.tokens.READ, 'GET', `/application/${b.objects.applicationId}/link`)
  assert.ok(!links.text.includes('login.one.example'))
  const check = await call(b.tokens.READ, 'GET', `/application/${b.objects.applicationId}/checkCustomDomain`)
  const [found] = Object(check.body).results.filter((one: { domain_name: string }) => one.domain_name === made.domain)
  assert.equal(found.status, 'DOMAIN_NOT_CONFIGURED')
  for (const { name, value } of made.proof.records)
    assert.ok(found.error_details.includes(`${name} with the value ${value}`))
})

test('I21: a CNAME record to the validation domain proves a name; one to another service does not', async () => {
  const made = await add(a, 'shop.two.example')
  names.zones.set(made.domain, { CNAME: `shop-00000000.apps.platform.example` })
  assert.equal((await askAgain(a, made)).proof.state, 'PENDING')
  names.zones.set(made.domain, { CNAME: `x.${made.validation_domain}` })
  assert.equal((await askAgain(a, made)).proof.state, 'PENDING')
  names.zones.set(made.domain, { CNAME: made.validation_domain.toUpperCase() })
  assert.equal((await askAgain(a, made)).proof.method, 'CNAME')
  await routed(a, made.domain)
})

test('I21: a TXT record proves names only for its organization', async () => {
  names.zones.set('_quayside.three.example', { TXT: ['other=1', `quayside-organization=${a.organizationId}`] })
  const [mine, theirs] = [await add(a, 'three.example'), await add(b, 'three.example')]
  assert.equal((await askAgain(b, theirs)).proof.state, 'PENDING')
  assert.equal((await reach(a, mine, 'PROVEN')).proof.method, 'TXT')
  await routed(a, 'three.example')
  // The record of the registered domain also proves names below it.
  const below = await add(a, '*.deep.three.example')
  assert.equal((await reach(a, below, 'PROVEN')).proof.method, 'TXT')
  assert.match((await askAgain(b, theirs)).proof.message ?? '', /three\.example/)
})

test('I20: names at, below and above a proven name of another organization are refused in every spelling', async () => {
  await prove(a, 'corp.four.example')
  // The check of a new name changes its row, so it must be over before rows are compared.
  await asked(a, await add(a, '*.corp.four.example'))
  const refused = [
    'corp.four.example',
    'CORP.Four.Example.',
    '*.corp.four.example',
    'login.corp.four.example',
    '*.x.y.corp.four.example',
    'four.example',
    '*.four.example',
    'ｃorp.four.example',
    'corp。four.example',
  ]
  const before = await platform.fingerprint()
  for (const domain of refused) {
    const answer = await ask(b, domain)
    assert.equal(answer.status, 409, domain)
    assert.match(answer.text, /in use already/)
  }
  assert.deepEqual(await platform.fingerprint(), before)
  // Neighbouring names are free.
  await add(b, 'other.four.example')
  await add(b, 'xcorp.four.example')
})

test('I20: a name in another script is one name in all its spellings', async () => {
  const made = await add(a, 'Bücher.five.example')
  assert.equal(made.domain, 'xn--bcher-kva.five.example')
  names.zones.set(made.domain, { CNAME: made.validation_domain })
  await askAgain(a, made)
  for (const domain of ['bücher.five.example', 'XN--BCHER-KVA.five.example', 'www.bu\u0308cher.five.example.']) {
    assert.equal((await ask(b, domain)).status, 409, domain)
  }
})

test('I20: public suffixes, wildcards below them and invalid names are refused', async () => {
  const suffixes = [
    'co.uk',
    '*.co.uk',
    '*.com',
    '*.github.io',
    'github.io',
    '*.compute.amazonaws.com',
    '公司.cn',
    '*.xn--55qx5d.cn',
  ]
  const odd = [
    'a.org/x',
    'a.org:80',
    'a`.org',
    'a%2eorg.net',
    '*.*.org',
    'a.*.org',
    '0x7f.1',
    '10.0.0.1',
    'a..org',
    '.a.org',
    '_x.a.org',
  ]
  for (const domain of [...suffixes, ...odd, `${'a'.repeat(64)}.org`]) {
    const answer = await ask(b, domain)
    assert.equal(answer.status, 400, `${domain}: ${answer.text}`)
    assert.match(answer.text, /domain must/)
  }
})

test('I20: names of the platform and wildcards that cover them are refused', async () => {
  const own = ['apps.platform.example', 'x.apps.platform.example', '*.apps.platform.example', 'Apps.Platform.Example.']
  for (const domain of [...own, 'quayside.platform.example', 'QUAYSIDE.platform.example.', '*.platform.example']) {
    assert.equal((await ask(b, domain)).status, 400, domain)
  }
})

test('the first of two organizations to prove a name gets it, and the other one gets the reason', async () => {
  const [mine, theirs] = [await add(a, 'race.example'), await add(b, 'race.example')]
  names.zones.set('race.example', { CNAME: theirs.validation_domain })
  await askAgain(b, theirs)
  await reach(b, theirs, 'PROVEN')
  names.zones.set('_quayside.race.example', { TXT: [`quayside-organization=${a.organizationId}`] })
  const told = await askAgain(a, mine)
  assert.equal(told.proof.state, 'PENDING')
  assert.match(told.proof.message ?? '', /Another organization has proven this name/)
  await routed(b, 'race.example')
})

test('two organizations that prove one name at the same time do not both get it', async () => {
  names.zones.set('_quayside.both.example', {
    TXT: [a, b].map(({ organizationId }) => `quayside-organization=${organizationId}`),
  })
  const made = [await add(a, 'x.both.example'), await add(b, '*.both.example')] as const
  await Promise.all([askAgain(a, made[0]), askAgain(b, made[1])])
  const states = [await read(a, made[0].id), await read(b, made[1].id)].map(({ proof }) => proof.state)
  assert.deepEqual(states.toSorted(), ['PENDING', 'PROVEN'])
})

test('I21: a wildcard is not proven by one name below it', async () => {
  const made = await add(b, '*.six.example')
  for (const label of ['any', 'www', '*quayside', 'quayside']) {
    names.zones.set(`${label}.six.example`, { CNAME: made.validation_domain })
  }
  assert.equal((await askAgain(b, made)).proof.state, 'PENDING')
  names.zones.set('*.six.example', { CNAME: made.validation_domain })
  assert.equal((await askAgain(b, made)).proof.method, 'CNAME')
  await routed(b, '*.six.example')
})

test('I21: a proof does not survive a change of the name', async () => {
  const made = await prove(b, 'mine.seven.example')
  await routed(b, 'mine.seven.example')
  const body = { domain: 'victim.eight.example', generate_certificate: false }
  const answer = await call(b.tokens.WRITE, 'PUT', `${pathOf(b)}/${made.id}`, body)
  assert.equal(answer.status, 200)
  assert.equal(Object(answer.body).proof.state, 'PENDING')
  await unrouted('mine.seven.example')
  await unrouted('victim.eight.example')
  await prove(a, 'nine.example')
  const stolen = { domain: 'login.nine.example', generate_certificate: false }
  assert.equal((await call(b.tokens.WRITE, 'PUT', `${pathOf(b)}/${made.id}`, stolen)).status, 409)
})

test('a name added before proofs existed keeps its traffic until DNS names another organization', async () => {
  const squatted = await add(b, 'login.ten.example')
  await database`update custom_domain set proof = 'BEFORE_REQUIRED', proven_at = now() where id = ${squatted.id}`
  await askAgain(b, squatted)
  assert.equal((await read(b, squatted.id)).proof.state, 'PROVEN')
  const rightful = await prove(a, '*.ten.example')
  await routed(a, '*.ten.example')
  const told = await read(b, squatted.id)
  assert.equal(told.proof.state, 'PENDING')
  await unrouted('login.ten.example')
  assert.equal((await askAgain(b, squatted)).proof.state, 'PENDING')
  assert.equal((await read(a, rightful.id)).proof.state, 'PROVEN')
})

test('a name below one added before proofs existed is refused', async () => {
  const old = await add(a, 'eleven.example')
  await database`update custom_domain set proof = 'BEFORE_REQUIRED', proven_at = now() where id = ${old.id}`
  assert.equal((await ask(b, 'login.eleven.example')).status, 409)
})

test('a lost proof is reported and keeps its traffic, and DNS that does not answer changes nothing', async () => {
  const made = await prove(a, 'twelve.example')
  names.zones.set(made.domain, { silent: true })
  names.zones.set(`_quayside.${made.domain}`, { silent: true })
  const unknown = await askAgain(a, made)
  assert.equal(unknown.proof.state, 'PROVEN')
  assert.match(unknown.proof.message ?? '', /DNS did not answer in time|could not be asked/)
  names.zones.delete(made.domain)
  names.zones.delete(`_quayside.${made.domain}`)
  assert.equal((await askAgain(a, made)).proof.state, 'LOST')
  assert.equal((await ask(b, made.domain)).status, 409)
  await routed(a, made.domain)
  await database`update custom_domain set lost_since = now() - interval '4 days' where id = ${made.id}`
  const successor = await prove(b, made.domain)
  await routed(b, successor.domain)
  assert.equal((await read(a, made.id)).proof.state, 'PENDING')
})

test('a name that nobody proves is released, and checked again once it is saved', async () => {
  const made = await add(b, 'thirteen.example')
  await database`update custom_domain set pending_since = now() - interval '8 days' where id = ${made.id}`
  await askAgain(b, made)
  await reach(b, made, 'RELEASED')
  const body = { domain: made.domain, generate_certificate: false }
  assert.equal((await call(b.tokens.WRITE, 'PUT', `${pathOf(b)}/${made.id}`, body)).status, 200)
  await reach(b, made, 'PENDING')
})

test('names whose servers never answer delay only their own organization', async () => {
  const silent = Array.from({ length: 12 }, (_, index) => `s${index}.fourteen.example`)
  for (const name of [...silent, ...silent.map((each) => `_quayside.${each}`), '_quayside.fourteen.example']) {
    names.zones.set(name, { silent: true })
  }
  for (const name of silent) await add(b, name)
  const made = await add(a, 'quick.fifteen.example')
  names.zones.set(made.domain, { CNAME: made.validation_domain })
  await askAgain(a, made)
  assert.equal((await read(a, made.id)).proof.state, 'PROVEN')
  const [row] = await database<{ waiting: number }[]>`
    select count(*)::int as waiting from custom_domain where domain like '%.fourteen.example' and asked_at is null`
  assert.ok((row?.waiting ?? 0) >= 4)
})

test('names below .test need no proof and belong to the first organization', async () => {
  const made = await add(a, 'shop.test')
  assert.deepEqual([made.proof.state, made.proof.method], ['PROVEN', 'NO_PUBLIC_DNS'])
  await routed(a, 'shop.test')
  assert.equal((await ask(b, 'shop.test')).status, 409)
  assert.equal((await ask(b, 'login.shop.test')).status, 409)
})

test('checks of domains are queued, so an organization asks name servers few questions at a time', async () => {
  const { applicationId } = await platform.addObjects(a)
  const domain = 'check.sixteen.example'
  const body = { domain, generate_certificate: false }
  names.zones.set(domain, { silent: true })
  assert.equal((await call(a.tokens.WRITE, 'POST', `/application/${applicationId}/customDomain`, body)).status, 201)
  await database`update custom_domain set next_ask_at = null where domain = ${domain}`
  const before = names.asked.filter((name) => name === domain).length
  const check = () => call(a.tokens.READ, 'GET', `/application/${applicationId}/checkCustomDomain`)
  const checks = Array.from({ length: 8 }, check)
  await Promise.race(checks)
  // A check asks three questions, each twice. Two checks of a caller run, and two more may have
  // begun.
  assert.ok(names.asked.filter((name) => name === domain).length - before <= 18)
  for (const { status } of await Promise.all(checks)) assert.equal(status, 200)
})
