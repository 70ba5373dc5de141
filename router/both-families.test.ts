import assert from 'node:assert/strict'
import { request } from 'node:http'
import test, { type TestContext } from 'node:test'
import { proxyHeaderOf } from '../test/support/proxy-header.ts'
import { portOf, type TestBed, testBed, textOf, untilClosed } from './test-bed.ts'

// A router at `::` has clients of IPv4 too. The system writes their addresses in the form of IPv6.

async function bedAt(t: TestContext, host: string, proxies: readonly string[] = []): Promise<TestBed> {
  const bed = await testBed(t, { host, proxies })
  const application = await bed.application(({ headers }, response) => {
    response.end(`${headers['x-forwarded-for']} ${headers['x-real-ip']}`)
  })
  await bed.lead([portOf(application)])
  return bed
}

const from = (host: string, port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const outgoing = request({ host, port, headers: { host: 'app.localhost' }, agent: false }, (answer) => {
      textOf(answer).then(resolve, reject)
    })
    outgoing.on('error', reject).end()
  })

test('a client of IPv4 has its own address at a router of both families', async (t) => {
  const { router } = await bedAt(t, '::')
  assert.equal(await from('127.0.0.1', router.port), '127.0.0.1 127.0.0.1')
  assert.equal(await from('::1', router.port), '::1 ::1')
})

test('a client of IPv4 has its own address if its load balancer writes it as one of IPv6', async (t) => {
  const bed = await bedAt(t, '127.0.0.1', ['127.0.0.0/8'])
  const ask = 'GET / HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\n\r\n'
  for (const [written, client] of [
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::1'],
  ] as const) {
    const answer = await untilClosed(bed.raw(proxyHeaderOf(written).toString('latin1') + ask))
    assert.ok(answer.endsWith(`\r\n\r\n${client} ${client}`), answer)
  }
})
