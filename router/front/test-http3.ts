import assert from 'node:assert/strict'
import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import type { TestContext } from 'node:test'
import { speaksHttp3 } from '@quayside/contract/http3.ts'
import type { Route } from '@quayside/contract/routes.ts'
import { type Http3Client, missingHttp3, startHttp3Client } from '../../test/support/http3/client.ts'
import { wildcard } from '../../test/support/self-signed.ts'
import { portOf, type TestBed, testBed, textOf } from '../test-bed.ts'
import { buildOf } from './start-haproxy.ts'

export const host = 'shop.apps.far.test'
export const tls = { from: 'platform', redirects: true } as const
export const certificates = [{ host, chain: wildcard.cert, key: wildcard.key }]

/** Returns why tests of HTTP/3 with this HAProxy are skipped. Undefined if they can run. */
export async function missingHttp3Front(haproxy: string): Promise<string | undefined> {
  if (speaksHttp3(await buildOf(haproxy))) return missingHttp3()
  return 'this HAProxy serves no HTTP/3 (QUAYSIDE_TEST_HAPROXY can be another)'
}

type BedOptions = NonNullable<Parameters<typeof testBed>[1]>

export interface Http3Bed extends TestBed {
  readonly client: Http3Client
  readonly tlsPort: number
  /** Returns how many requests came to the router since the last call. */
  passedOn(): Promise<number>
}

/** The request as an application received it. */
export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly trailers: NodeJS.Dict<string>
  readonly length: number
}

/** An application that answers with the request as it arrived. */
export const echo: RequestListener = (request, response) => {
  textOf(request).then(
    ({ length }) => {
      const { method, url, headers, trailers } = request
      response.end(JSON.stringify({ method, url, headers, trailers, length }))
    },
    () => response.destroy(),
  )
}

export const seenIn = (body: string): Seen => JSON.parse(body)

/** A router behind the HAProxy of `beds`, with an application and a client of HTTP/3. */
export async function http3Bed(
  t: TestContext,
  route: Partial<Route> = {},
  options: BedOptions = {},
  listener = echo,
): Promise<Http3Bed> {
  const bed = await testBed(t, { tlsPort: 0, http3: true, ...options })
  const app = await bed.application(listener)
  await bed.lead([portOf(app)], { host, tls, ...route })
  assert.equal((await bed.tell('PUT', '/tls', { certificates, challenges: [], mark: 'one' })).status, 200)
  const tlsPort = bed.router.tlsPort ?? 0
  const client = (await startHttp3Client(t, { port: tlsPort, serverName: host, ca: wildcard.cert })) ?? assert.fail()
  let before = 0
  const passedOn = async (): Promise<number> => {
    const { counts } = JSON.parse(JSON.stringify((await bed.tell('GET', '/health')).body))
    const added = counts.requests - before
    before = counts.requests
    return added
  }
  return { ...bed, client, tlsPort, passedOn }
}
