import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { test } from 'node:test'
import type { Route } from '@quayside/contract/routes.ts'
import { endAfter } from '../test/support/http2-session.ts'
import { selfSigned } from '../test/support/self-signed.ts'
import { access, guard, listed, names, returnTo, secret, service, tokenOf } from './sign-in-bed.ts'
import { portOf, testBed } from './test-bed.ts'

// The sign-in over HTTPS and HTTP/2, whose cookies belong to one host alone.

const host = 'outside.invalid'

async function secureBed(t: Parameters<typeof testBed>[0], redirects: boolean) {
  const bed = await testBed(t, { tlsPort: 0 })
  const { tlsPort } = bed.router
  const cookies: (string | undefined)[] = []
  const application = await bed.application((request, response) => {
    cookies.push(request.headers.cookie)
    response.setHeader('set-cookie', ['a=1', 'b=2'])
    response.end('inside')
  })
  const route: Partial<Route> = { host, service, rules: guard, tls: { from: 'platform', redirects } }
  await bed.lead([portOf(application)], route, listed())
  const own = { host, chain: selfSigned.cert, key: selfSigned.key }
  assert.equal((await bed.tell('PUT', '/tls', { certificates: [own], challenges: [], mark: 'one' })).status, 200)
  const session = connect(`https://127.0.0.1:${tlsPort}`, { servername: host, rejectUnauthorized: false })
  endAfter(t, session)
  const ask = async (headers: Readonly<Record<string, string>>) => {
    const stream = session.request({ ':authority': host, ...headers }, { endStream: true })
    const [answer] = await once(stream, 'response')
    stream.resume()
    return { status: Number(answer[':status']), location: String(answer['location']), set: answer['set-cookie'] ?? [] }
  }
  return { tlsPort, ask, plain: bed.ask, cookies }
}

test('over HTTPS, cookies have the prefix of their host and are for HTTPS only', async (t) => {
  const { ask, cookies } = await secureBed(t, true)
  const begun = await ask({ accept: 'text/html' })
  assert.equal(begun.status, 302)
  assert.equal(new URL(begun.location).searchParams.get('secure'), '1')
  assert.match(String(begun.set), /^__Host-quayside-start-00000000000a=[\w-]{43}; Path=\/; .*; SameSite=Lax; Secure$/)
  const start = `__Host-${names.start}=${secret}`
  const token = tokenOf({ host })
  const plainCookie = await ask({ ':path': returnTo(token), cookie: `${names.start}=${secret}` })
  assert.deepEqual(
    [plainCookie.status, plainCookie.set],
    [303, []],
    'a cookie that a sibling could set is not accepted',
  )
  const back = await ask({ ':path': returnTo(token), cookie: start })
  assert.deepEqual([back.status, back.location, back.set.length], [303, '/report?of=may', 2])
  assert.equal((await ask({ cookie: access({ host }) })).status, 401)
  const inside = await ask({ cookie: `a=1; __Host-${access({ host })}` })
  assert.deepEqual([inside.status, inside.set], [200, ['a=1', 'b=2']])
  assert.deepEqual(cookies, ['a=1'])
})

for (const redirects of [true, false]) {
  test(`plain HTTP leads to HTTPS before the sign-in, ${redirects ? 'with' : 'without'} a redirect for all`, async (t) => {
    const { plain, tlsPort } = await secureBed(t, redirects)
    const { status, headers } = await plain({ host, headers: { accept: 'text/html' }, path: '/report' })
    assert.deepEqual([status, headers.location], [redirects ? 308 : 302, `https://${host}:${tlsPort}/report`])
    const { status: known } = await plain({ host, headers: { cookie: access({ host }) } })
    assert.equal(known, redirects ? 308 : 401, 'no session counts without HTTPS')
  })
}

test('a coalesced connection to another host gets no session of it', async (t) => {
  const { ask } = await secureBed(t, true)
  const answer = await ask({ ':authority': 'else.invalid', cookie: `__Host-${access({ host })}` })
  assert.equal(answer.status, 421)
})

test('a form of the application itself is accepted over HTTP/2, and one of another origin is not', async (t) => {
  const { ask } = await secureBed(t, true)
  const post = (origin: string) => ask({ ':method': 'POST', cookie: `__Host-${access({ host })}`, origin })
  for (const origin of ['https://else.invalid', 'null', `https://${host}.else.invalid`, `https://${host}:444`]) {
    assert.equal((await post(origin)).status, 403, origin)
  }
  assert.equal((await post(`https://${host}`)).status, 200)
})
