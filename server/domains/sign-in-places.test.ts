import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { addPlace, addService } from '../variables/testing.ts'
import { publicAddressOf } from './links.ts'
import { setCertificates } from './route-store.ts'
import { createSignInPlaces } from './sign-in-places.ts'

const { sql } = await testDatabase({ after })
const place = await addPlace(sql)
const [guarded, other] = [place.service.serviceId, (await addService(sql, place.environment)).serviceId]
const signIn = { 'network.router.sign_in': 'member' }
await sql`update service set advanced_settings = ${sql.json(signIn)}`
const ports = { routerPort: 8080, routerTls: { port: 8443 } }
const places = createSignInPlaces({ database: sql, address: publicAddressOf({ ...ports, publicRouterPorts: {} }) })

const addRoute = (service: string, host: string, publicPort: number | null = null) => sql`
  insert into route ${sql({
    ...{ service_id: service, host, port_name: host, internal_port: 80, is_default: false, updated_at: new Date() },
    ...{ endpoints: sql.json([]), public_port: publicPort, public_protocol: publicPort && 'TCP' },
  })}`
await addRoute(guarded, 'app.example.org')
await addRoute(guarded, '*.example.org')
await addRoute(other, 'other.example.org')
await addRoute(guarded, 'tcp.example.net:30001', 30_001)

const originAt = async (host: string, isSecure = false): Promise<string | undefined> =>
  (await places.find({ service: guarded, host, isSecure }))?.origin

test('a service is found at its hosts and below its wildcards, but not at a host of another service', async () => {
  assert.equal(await originAt('app.example.org'), 'http://app.example.org:8080')
  assert.equal(await originAt('any.example.org'), 'http://any.example.org:8080')
  for (const host of ['other.example.org', 'a.b.example.org', 'example.org', '*.else.org', 'tcp.example.net:30001']) {
    assert.equal(await originAt(host), undefined, host)
  }
})

test('HTTPS is never left: not for a host with a certificate, nor behind a proxy that ends TLS', async () => {
  assert.equal(await originAt('app.example.org', true), 'https://app.example.org')
  const certificate = { state: 'READY', message: null } as const
  await setCertificates(sql, [{ service: guarded, host: 'app.example.org', certificate }])
  assert.equal(await originAt('app.example.org'), 'https://app.example.org:8443')
  assert.equal(await originAt('app.example.org', true), 'https://app.example.org:8443')
})

test('people come back at the ports that clients use', async () => {
  const originWith = async (publicRouterPorts: { port?: number; tlsPort?: number }, isSecure = false) => {
    const address = publicAddressOf({ ...ports, publicRouterPorts })
    const at = { service: guarded, host: 'any.example.org', isSecure }
    return (await createSignInPlaces({ database: sql, address }).find(at))?.origin
  }
  assert.equal(await originWith({ port: 80 }), 'http://any.example.org')
  assert.equal(await originWith({ port: 80, tlsPort: 8444 }, true), 'https://any.example.org:8444')
})

test('a service that everybody may use is not found', async () => {
  for (const open of [{ 'network.router.sign_in': '' }, { 'network.router.sign_in': null }, {}]) {
    await sql`update service set advanced_settings = ${sql.json(open)} where id = ${guarded}`
    assert.equal(await originAt('app.example.org'), undefined)
  }
})
