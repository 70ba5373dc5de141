import assert from 'node:assert/strict'
import crypto, { createHmac, randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { after, test } from 'node:test'
import { systemClock } from '../../server/lib/clock.ts'
import { Secret } from '../../server/lib/secret.ts'
import { createPushPruner } from '../../server/pushes/index.ts'
import { signings } from '../../server/pushes/signatures.ts'
import {
  bitbucket,
  commitOf,
  github,
  gitlab,
  gitlabSigned,
  hosts,
  type ProviderMessage,
  senders,
  zeros,
} from '../support/git-provider.ts'
import { createPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

/**
 * Group K: messages of git providers, which have a signature instead of a token. No workers run
 * here; tests check what is stored.
 */
const platform = await createPlatform({ after })
const { a, b, call, database } = platform
const origin = await platform.listen()

interface Webhook {
  readonly id: string
  readonly path: string
  readonly secret: string
}
type Provider = keyof typeof senders
const providers = ['GITHUB', 'GITLAB', 'BITBUCKET'] as const

async function makeWebhook(provider: Provider, tenant = a, body: object = {}): Promise<Webhook> {
  const path = `/organization/${tenant.organizationId}/gitWebhook`
  const answer = await call(tenant.tokens.ADMIN, 'POST', path, { provider, ...body })
  assert.equal(answer.status, 201, answer.text)
  const { id, url, secret } = Object(answer.body)
  return { id, secret, path: new URL(url).pathname }
}
const send = ({ path }: Pick<Webhook, 'path'>, { headers, body }: ProviderMessage) =>
  call(undefined, 'POST', path, body, headers)
const pushes = () =>
  database`select organization_id, branch, commit from git_push where id not in (select id from workflow
    where state = 'done') order by seq`
const facts = { repository: 'acme/shop', before: commitOf('a'), after: commitOf('b') }

/** The fields that are read from each provider's messages. */
const readNames = {
  GITHUB: ['ref', 'before', 'after', 'repository', 'pusher', 'commits', 'head_commit', 'forced'],
  GITLAB: ['ref', 'before', 'after', 'project', 'user_name'],
  BITBUCKET: ['push', 'actor', 'repository'],
} as const

for (const provider of providers) {
  test(`K1: ${provider}: a message without the right signature is refused before it is parsed, and nothing is stored`, async () => {
    const [webhook, other] = [await makeWebhook(provider), await makeWebhook(provider, b)]
    const good = senders[provider](facts, webhook.secret)
    const without = Object.fromEntries(
      Object.entries(good.headers).filter(([name]) => !/signature|gitlab-token/.test(name)),
    )
    const sha1 = good.headers['x-hub-signature']?.startsWith('sha1=')
      ? { 'x-hub-signature': good.headers['x-hub-signature'] }
      : {}
    const bad: ProviderMessage[] = [
      { body: good.body, headers: without },
      { body: good.body, headers: { ...without, ...sha1 } },
      { body: '{', headers: without },
      { body: '\xff', headers: without },
      senders[provider](facts, ''),
      senders[provider](facts, other.secret),
      senders[provider](facts, `${webhook.secret} `),
      senders[provider](facts, webhook.secret.slice(0, -1)),
      ...['x-hub-signature', 'x-hub-signature-256', 'x-gitlab-token', 'webhook-signature'].flatMap((name) =>
        ['', 'sha256=', 'sha256=00', 'v1,', 'sha1=00'].map((value) => ({
          body: good.body,
          headers: { ...without, [name]: value },
        })),
      ),
      // The signature of another body. GitLab's token does not depend on the body.
      ...(provider === 'GITLAB' ? [] : [{ body: `${good.body} `, headers: good.headers }]),
    ]
    const before = await platform.fingerprint()
    const texts = new Set<string>()
    for (const message of bad) {
      const answer = await send(webhook, message)
      assert.equal(answer.status, 401, JSON.stringify(message.headers))
      texts.add(answer.text)
    }
    assert.equal(texts.size, 1, 'the answer reveals what was wrong')
    assert.deepEqual(await platform.fingerprint(), before)
    assert.equal((await send(webhook, good)).status, 202)
  })

  test(`K2: ${provider}: a repeated message answers 200 and does nothing`, async () => {
    const webhook = await makeWebhook(provider)
    const message = senders[provider]({ ...facts, branch: `k2-${provider.toLowerCase()}` }, webhook.secret)
    assert.equal((await send(webhook, message)).status, 202)
    const before = await platform.fingerprint()
    const again = [message]
    // These providers do not sign the id. With another id it is still the same message.
    if (provider !== 'GITLAB') {
      const headers = { ...message.headers, 'x-github-delivery': randomUUID(), 'x-request-uuid': randomUUID() }
      again.push({ ...message, headers })
    }
    for (const one of again) {
      const { status, body } = await send(webhook, one)
      assert.deepEqual([status, Object(body).status], [200, 'repeated'])
    }
    assert.deepEqual(await platform.fingerprint(), before)
  })

  test(`K2: ${provider}: a message repeated after a day or nearly a month does nothing`, async () => {
    const webhook = await makeWebhook(provider)
    const message = senders[provider]({ ...facts, branch: `later-${provider.toLowerCase()}` }, webhook.secret)
    assert.equal((await send(webhook, message)).status, 202)
    for (const days of [1, 29]) {
      const clock = { ...systemClock, now: () => new Date(Date.now() + days * 86_400_000) }
      await createPushPruner({ database, clock }).reconcile(AbortSignal.timeout(60_000))
      const before = await platform.fingerprint()
      const { status, body } = await send(webhook, message)
      assert.deepEqual([status, Object(body).status], [200, 'repeated'], `${days} days later`)
      assert.deepEqual(await platform.fingerprint(), before)
    }
  })

  test(`K5: ${provider}: tags, deleted branches, odd names and other events are ignored`, async () => {
    const webhook = await makeWebhook(provider)
    const make = senders[provider]
    const event = { GITHUB: 'x-github-event', GITLAB: 'x-gitlab-event', BITBUCKET: 'x-event-key' }[provider]
    const tag = {
      ref: 'refs/tags/v1',
      push: { changes: [{ new: { type: 'tag', name: 'v1', target: { hash: commitOf('c') } } }] },
    }
    const messages = [
      make({ ...facts, change: tag }, webhook.secret),
      make({ ...facts, after: zeros }, webhook.secret),
      make({ ...facts, branch: 'a..b' }, webhook.secret),
      make({ ...facts, branch: '--upload-pack=x' }, webhook.secret),
      make({ ...facts, after: 'HEAD' }, webhook.secret),
      make({ ...facts, after: 'abc1234' }, webhook.secret),
      ...['ping', 'pull_request', 'Merge Request Hook', 'pullrequest:created', ''].map((name) =>
        make({ ...facts, change: { name } }, webhook.secret, { [event]: name }),
      ),
    ]
    const count = (await pushes()).length
    for (const message of messages) {
      const { status, body } = await send(webhook, message)
      assert.deepEqual([status, Object(body).status], [200, 'ignored'], message.body)
    }
    assert.equal((await pushes()).length, count)
  })

  test(`K8: ${provider}: only services of the webhook’s organization follow, whatever the message says`, async () => {
    const [ofA, ofB] = [await makeWebhook(provider), await makeWebhook(provider, b)]
    const branch = `k8-${provider.toLowerCase()}`
    const change = { organization_id: b.organizationId, organization: { id: b.organizationId } }
    assert.equal((await send(ofA, senders[provider]({ ...facts, branch, change }, ofA.secret))).status, 202)
    const seen = async () =>
      (await pushes()).filter((push) => push['branch'] === branch).map((push) => push['organization_id'])
    assert.deepEqual(await seen(), [a.organizationId])
    assert.equal((await send(ofB, senders[provider]({ ...facts, branch }, ofB.secret))).status, 202)
    assert.deepEqual(await seen(), [a.organizationId, b.organizationId])
    const repositories = await database`select repositories from git_push where branch = ${branch}`
    for (const row of repositories) assert.ok(row['repositories'].includes(`${hosts[provider]}/acme/shop`))
  })

  test(`K11: ${provider}: an empty secret opens nothing`, async () => {
    const { headers, body } = senders[provider](facts, '')
    assert.equal(await signings[provider].isGood(headers, Buffer.from(body), new Secret(''), new Date()), false)
    const webhook = await makeWebhook(provider, a, { secret: '' })
    assert.match(webhook.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    assert.equal((await send(webhook, senders[provider](facts, ''))).status, 401)
  })

  test(`K4: ${provider}: a signed message with any content is answered and breaks nothing`, async () => {
    const webhook = await makeWebhook(provider)
    const make = senders[provider]
    const odd: unknown[] = [
      null,
      true,
      7,
      1e308,
      '',
      'x'.repeat(5000),
      '\u0000',
      '\ud800',
      [],
      [[]],
      {},
      { a: { a: [] } },
      '../..',
      { length: 9e9 },
    ]
    const bodies = readNames[provider].flatMap((name) => odd.map((value) => ({ [name]: value })))
    bodies.push(
      { push: { changes: odd } },
      { repository: { clone_url: 'ext::sh -c id', links: { html: { href: 'file:///etc' } } }, project: {} },
    )
    // Each webhook has its own rate limit, so two of them share the work.
    const webhooks = [webhook, await makeWebhook(provider)]
    for (const [index, change] of bodies.entries()) {
      const to = webhooks[index % webhooks.length] ?? webhook
      const { status, text } = await send(to, make({ ...facts, change }, to.secret))
      assert.ok([200, 202].includes(status), `${JSON.stringify(change).slice(0, 100)}: ${status} ${text}`)
    }
  })
}

test('K1: GitLab’s signing token: id and time are signed, and a right token does not excuse a wrong signature', async () => {
  const webhook = await makeWebhook('GITLAB')
  const now = Math.floor(performance.timeOrigin / 1000 + performance.now() / 1000)
  const signed = gitlabSigned(facts, webhook.secret, now)
  const bad: ProviderMessage[] = [
    gitlabSigned(facts, webhook.secret, now - 86_400),
    gitlabSigned(facts, webhook.secret, now - 600),
    gitlabSigned(facts, webhook.secret, now + 600),
    { ...signed, body: `${signed.body} ` },
    { ...signed, headers: { ...signed.headers, 'webhook-id': randomUUID() } },
    { ...signed, headers: { ...signed.headers, 'webhook-timestamp': `${now + 1}` } },
    { ...signed, headers: { ...signed.headers, 'webhook-signature': 'v1,AAAA', 'x-gitlab-token': webhook.secret } },
  ]
  for (const message of bad) assert.equal((await send(webhook, message)).status, 401)
  assert.equal((await send(webhook, signed)).status, 202)
  assert.equal(Object((await send(webhook, signed)).body).status, 'repeated')
})

test('an unknown address, one of another provider and a deleted one answer 404', async () => {
  const webhook = await makeWebhook('GITHUB')
  const message = () => github(facts, webhook.secret)
  const paths = [
    webhook.path.replace(webhook.id, randomUUID()),
    webhook.path.replace(webhook.id, 'x'),
    webhook.path.replace('github', 'gitlab'),
    webhook.path.replace('github', 'GITHUB'),
    webhook.path.replace('github', '__proto__'),
  ]
  const texts = new Set<string>()
  for (const path of paths) {
    const answer = await send({ path }, message())
    assert.equal(answer.status, 404, path)
    texts.add(answer.text)
  }
  assert.equal(texts.size, 1)
  const list = `/organization/${a.organizationId}/gitWebhook`
  assert.equal((await call(a.tokens.ADMIN, 'DELETE', `${list}/${webhook.id}`)).status, 204)
  assert.equal((await send(webhook, message())).status, 404)
})

test('a new secret ends the previous one at once, and no secret is shown twice or logged', async () => {
  const webhook = await makeWebhook('GITHUB')
  const path = `/organization/${a.organizationId}/gitWebhook`
  const rotated = Object((await call(a.tokens.ADMIN, 'POST', `${path}/${webhook.id}/secret`)).body)
  assert.notEqual(rotated.secret, webhook.secret)
  assert.equal((await send(webhook, github(facts, webhook.secret))).status, 401)
  assert.equal((await send(webhook, github(facts, rotated.secret))).status, 202)
  const shown = [
    (await call(a.tokens.READ, 'GET', path)).text,
    (await call(a.tokens.ADMIN, 'GET', `${path}/${webhook.id}/delivery`)).text,
    (await call(a.tokens.ADMIN, 'GET', `/organization/${a.organizationId}/events`)).text,
    ...platform.logged,
    JSON.stringify(await database`select * from git_webhook`),
  ]
  for (const text of shown) {
    for (const secret of [webhook.secret, rotated.secret]) assert.ok(!text.includes(secret))
  }
})

test('a signed message that cannot be parsed is 400 and says what to set', async () => {
  const webhook = await makeWebhook('BITBUCKET')
  const bodies = [Buffer.from('{'), Buffer.from('payload=%7B%7D'), Buffer.from([0x22, 0xff, 0x22]), Buffer.alloc(0)]
  for (const body of bodies) {
    const signature = `sha256=${createHmac('sha256', webhook.secret).update(body).digest('hex')}`
    const headers = { 'x-event-key': 'repo:push', 'x-hub-signature': signature, 'x-request-uuid': randomUUID() }
    const answer = await call(undefined, 'POST', webhook.path, body, headers)
    assert.equal(answer.status, 400)
    assert.match(answer.text, /content type application\/json/)
  }
})

test('a message about the built-in git host changes nothing there', async () => {
  const webhook = await makeWebhook('GITHUB')
  const repository = { clone_url: 'http://localhost:3000/git/hello.git' }
  const { status, body } = await send(webhook, github({ ...facts, change: { repository } }, webhook.secret))
  assert.deepEqual([status, Object(body).status], [200, 'ignored'])
})

test('K3: a body of 26 MB is 413, with or without its length', async () => {
  const webhook = await makeWebhook('GITHUB')
  const attempt = (headers: Record<string, string>, megabytes: number): Promise<number | string> =>
    new Promise((resolve) => {
      const sent = request(`${origin}${webhook.path}`, { method: 'POST', headers: { host: 'localhost', ...headers } })
      sent.on('response', (response) => resolve(response.resume().statusCode ?? 0))
      sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'))
      const chunk = Buffer.alloc(1024 * 1024, 0x20)
      let left = megabytes
      const write = (): void => {
        while (left-- > 0) if (!sent.write(chunk)) return void sent.once('drain', write)
        sent.end()
      }
      write()
    })
  assert.equal(await attempt({ 'content-length': `${26 * 1024 * 1024}` }, 0), 413)
  // A body that does not end is cut off.
  assert.ok([413, 'ECONNRESET', 'EPIPE'].includes(await attempt({ 'transfer-encoding': 'chunked' }, 60)))
})

test('a webhook beyond its rate limit is refused, and other webhooks continue', async () => {
  const [busy, other] = [await makeWebhook('GITHUB'), await makeWebhook('GITHUB')]
  const statuses: number[] = []
  let retryAfter: unknown
  for (let turn = 0; turn < 130; turn++) {
    const { status, headers } = await send(busy, github({ ...facts, branch: `n${turn}` }, busy.secret))
    statuses.push(status)
    if (status === 429) retryAfter = headers['retry-after']
  }
  assert.equal(statuses.filter((status) => status === 202).length >= 120, true)
  assert.ok(statuses.includes(429))
  assert.ok(Number(retryAfter) >= 1)
  // Messages with a wrong secret do not count against the webhook's limit.
  for (let turn = 0; turn < 130; turn++) assert.equal((await send(other, github(facts, 'wrong'))).status, 401)
  assert.equal((await send(other, github(facts, other.secret))).status, 202)
})

test('messages of an organization that wait for its own lock delay no other organization', async () => {
  const webhook = await makeWebhook('GITHUB')
  const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = database.begin(async (sql) => {
    await sql`select from git_webhook where id = ${webhook.id} for update`
    locked.resolve()
    await release.promise
  })
  await locked.promise
  const sent = [...'12345678'].map((letter) =>
    send(webhook, senders.GITHUB({ ...facts, after: commitOf(letter) }, webhook.secret)),
  )
  try {
    await until('several wait for the lock', async () => {
      const [row] = await database`select count(*)::int from pg_stat_activity where wait_event_type = 'Lock'`
      return Number(row?.['count']) >= 3
    })
    assert.equal((await call(b.tokens.READ, 'GET', '/organization')).status, 200)
  } finally {
    release.resolve()
  }
  await holding
  for (const answer of await Promise.all(sent)) assert.equal(answer.status, 202, answer.text)
})

test('K9: the time of a check does not reveal how much of a signature is right', async (t) => {
  // Node's comparison of two digests alone must decide. The test checks that its result is always
  // the answer.
  const real = crypto.timingSafeEqual
  const lengths: number[] = []
  let says: boolean | undefined
  t.mock.method(crypto, 'timingSafeEqual', (one: Buffer, other: Buffer) => {
    lengths.push(one.length, other.length)
    return says ?? real(one, other)
  })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  const key = `whsec_${Buffer.from('secret').toString('base64')}`
  const messages = [
    ['GITHUB', github(facts, key), 'x-hub-signature-256'],
    ['GITLAB', gitlab(facts, key), 'x-gitlab-token'],
    ['GITLAB', gitlabSigned(facts, key, Math.floor(Date.now() / 1000)), 'webhook-signature'],
    ['BITBUCKET', bitbucket(facts, key), 'x-hub-signature'],
  ] as const
  for (const [provider, { headers, body }, name] of messages) {
    const right = String(headers[name])
    const start = right.startsWith('v1,') ? 3 : 0
    const changed = (at: number): string => `${right.slice(0, at)}~${right.slice(at + 1)}`
    const wrong = [
      changed(start),
      changed(right.length - 1),
      right.slice(0, -1),
      `${right}~`,
      `${right.slice(0, start)}~`,
    ]
    const isGood = async (signature: string, verdict?: boolean): Promise<boolean> => {
      lengths.length = 0
      says = verdict
      const signed = { ...headers, [name]: signature }
      const answer = await signings[provider].isGood(signed, Buffer.from(body), new Secret(key), new Date())
      assert.deepEqual(lengths, [32, 32], `${provider} ${name}: ${signature}`)
      return answer
    }
    assert.deepEqual([await isGood(right), await isGood(right, false)], [true, false])
    for (const signature of wrong) {
      const verdicts = [await isGood(signature), await isGood(signature, true)]
      assert.deepEqual(verdicts, [false, true], `${provider} ${name}: ${signature}`)
    }
  }
})
