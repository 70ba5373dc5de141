import assert from 'node:assert/strict'
import { test } from 'node:test'
import fastify from 'fastify'
import { allowOrigins } from './cors.ts'

const origin = 'https://console.example'

function server(origins: readonly string[]) {
  const app = fastify()
  allowOrigins(app, origins)
  app.get('/thing', async () => ({}))
  const ask = async (method: 'GET' | 'OPTIONS', headers: Record<string, string>) => {
    const answer = await app.inject({ method, url: '/thing', headers })
    const cors = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))
    return { status: answer.statusCode, headers: answer.headers, cors }
  }
  return ask
}

test('a browser on an allowed origin may send requests and read the headers it needs', async () => {
  const ask = server([origin])
  const question = await ask('OPTIONS', { origin, 'access-control-request-method': 'PUT' })
  assert.equal(question.status, 204)
  assert.equal(question.headers['access-control-allow-origin'], origin)
  assert.match(String(question.headers['access-control-allow-headers']), /Authorization.*Idempotency-Key.*If-Match/)
  assert.match(String(question.headers['access-control-allow-methods']), /PUT, DELETE/)
  const answer = await ask('GET', { origin })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['access-control-allow-origin'], origin)
  assert.match(String(answer.headers['access-control-expose-headers']), /ETag.*X-RateLimit-Remaining/)
  assert.equal(answer.headers['access-control-allow-credentials'], undefined)
  assert.equal(answer.headers['vary'], 'Origin')
})

test('a reply has no CORS headers for other origins, or when no origin is allowed', async () => {
  const others = [
    'https://evil.example',
    'null',
    `${origin}.evil.example`,
    'http://console.example',
    `${origin}:444`,
    origin.toUpperCase(),
  ]
  for (const other of others) {
    const ask = server([origin])
    const answers = [
      await ask('GET', { origin: other }),
      await ask('OPTIONS', { origin: other, 'access-control-request-method': 'PUT' }),
    ]
    assert.deepEqual(
      answers.map(({ status, cors }) => [status, cors]),
      [
        [200, []],
        [404, []],
      ],
      other,
    )
  }
  const ask = server([])
  assert.deepEqual((await ask('GET', { origin })).cors, [])
  assert.equal((await ask('OPTIONS', { origin, 'access-control-request-method': 'GET' })).status, 404)
})
