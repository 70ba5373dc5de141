import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { databaseBody } from '../../test/support/objects/kinds.ts'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { chosenPorts } from './passed-ports.ts'

const range = { first: 30_000, last: 30_003 }
const settings = {
  QUAYSIDE_PUBLIC_PORTS: '30000-30003',
  QUAYSIDE_DOMAIN: 'apps.example.org',
  QUAYSIDE_ROUTER_PORT: '8080',
}
const platform = await createPlatform({ after }, { works: true, settings })
const { a, call, database, router } = platform
const { environmentId } = a.objects
await platform.addRepository(a)

const send = async (method: string, path: string, body?: object) => {
  const { status, body: answer, text } = await call(a.tokens.ADMIN, method, path, body, { 'x-state-dialect': 'full' })
  return { status, text, body: Object(answer) }
}
const tcp = (internal_port: number, external_port?: number) => ({
  internal_port,
  ...(external_port === undefined ? {} : { external_port }),
  publicly_accessible: true,
  protocol: 'TCP',
})
const http = { internal_port: 8080, publicly_accessible: true, protocol: 'HTTP' }
const make = (name: string, ports: readonly object[]) =>
  send('POST', `/environment/${environmentId}/application`, {
    name,
    git_repository: { url: 'http://localhost:3000/git/hello.git' },
    ports,
  })
const deploys = async (id: string) => {
  assert.equal((await send('POST', `/application/${id}/deploy`, {})).status, 202)
  return until('it is settled', async () => {
    const { body } = await send('GET', `/application/${id}/status`)
    return body.deployment_request_id === null ? body : undefined
  })
}
const links = async (id: string) =>
  (await send('GET', `/application/${id}/link`)).body.results.map(
    ({ url, internal_port, external_port }: Record<string, unknown>) => [url, internal_port, external_port],
  )
const portsOf = (id: string) =>
  router.routes.flatMap(({ listen, service, endpoints }) =>
    listen && service === id ? [[listen, endpoints.length]] : [],
  )

test('wishes are followed where they are free and of the range, and what a port has it keeps', () => {
  const of = (
    wished: readonly [number, number?][],
    taken: readonly number[],
    own: readonly [number, number][] = [],
  ) => {
    const ports = wished.map(([internal_port, external_port]) => ({
      internal_port,
      ...(external_port === undefined ? {} : { external_port }),
    }))
    return [...chosenPorts(ports, { own: new Map(own), taken: new Set(taken), range, id: '00000000-0' })]
  }
  assert.deepEqual(of([[1, 30_002]], []), [[1, 30_002]])
  assert.deepEqual(of([[1, 30_002]], [30_002, 30_000]), [[1, 30_001]])
  assert.deepEqual(of([[1, 5432]], [], [[1, 30_003]]), [[1, 30_003]])
  assert.deepEqual(of([[1, 30_001]], [], [[1, 30_003]]), [[1, 30_001]])
  assert.deepEqual(of([[1, 30_001]], [30_001], [[1, 30_003]]), [[1, 30_003]])
  assert.deepEqual(of([[1], [2, 30_000]], []), [[2, 30_000], [1, 30_001]]) // biome-ignore format: one line
  assert.deepEqual(of([[1]], [], [[1, 29_000]]), [[1, 30_000]])
  assert.throws(() => of([[1]], [30_000, 30_001, 30_002, 30_003]), /all public ports from 30000 to 30003 are taken/)
})

test('a public TCP port has a port of this machine in links, variables and the router', async () => {
  const { id } = (await make('speaks', [tcp(5432), http])).body
  const [[url, , number], [web]] =
    (await links(id)).sort()[0]?.[1] === 5432 ? await links(id) : (await links(id)).reverse()
  assert.match(url, /^tcp:\/\/application-z[0-9a-f]+\.apps\.example\.org:3000[0-3]$/)
  assert.ok(url.endsWith(`:${number}`))
  assert.match(web, /^http:\/\/speaks-[0-9a-f]{8}\.apps\.example\.org:8080$/)
  // The router may already know the port, but not an endpoint for it.
  assert.ok(portsOf(id).every(([listen, endpoints]) => Object(listen).port === number && endpoints === 0))
  assert.equal((await deploys(id)).state, 'DEPLOYED')
  assert.deepEqual(portsOf(id), [[{ protocol: 'TCP', port: number }, 1]])
  const record = (await send('GET', `/application/${id}`)).body
  assert.deepEqual(
    record.ports.map((port: Record<string, unknown>) => [port['external_port'], port['is_default']]),
    [[5432, false], [443, true]],
  ) // biome-ignore format: one line

  // Another service requests the same port, and a database one from the range.
  const other = (await make('asks', [{ ...tcp(7000, number), protocol: 'UDP' }])).body
  const [[address, , second]] = await links(other.id)
  assert.equal(new URL(address).protocol, 'udp:')
  assert.notEqual(second, number)
  const variables = (await send('GET', `/application/${other.id}/environmentVariable`)).text
  assert.match(variables, /_PORT_EXTERNAL/)
  const shown = (
    await send('POST', `/environment/${environmentId}/database`, { ...databaseBody('d'), accessibility: 'PUBLIC' })
  ).body
  assert.ok(![number, second].includes(shown.port))
  await send('DELETE', `/application/${other.id}`)

  await send('POST', `/application/${id}/stop`)
  await until('the port leads nowhere', () => portsOf(id)[0]?.[1] === 0 || undefined)
  await send('PUT', `/application/${id}`, { ports: [{ ...tcp(5432), publicly_accessible: false }] })
  assert.deepEqual(await links(id), [])
  await until('the router has forgotten the port', () => portsOf(id).length === 0 || undefined)
})

test('a deployment fails when another program uses its port', async () => {
  const { id } = (await make('late', [tcp(6000)])).body
  const [[, , number]] = await links(id)
  router.taken.add(number)
  const failed = await deploys(id)
  assert.equal(failed.state, 'DEPLOYMENT_ERROR')
  assert.match(failed.reason, new RegExp(`^Port ${number} of this machine, where port p6000 is to answer, is in use`))
  assert.deepEqual(portsOf(id), [[{ protocol: 'TCP', port: number }, 0]])
  router.taken.clear()
  assert.equal((await deploys(id)).state, 'DEPLOYED')
  assert.deepEqual(portsOf(id), [[{ protocol: 'TCP', port: number }, 1]])
  const copy = await send('POST', `/application/${id}/clone`, { name: 'copy', environment_id: environmentId })
  const [[, , third]] = await links(copy.body.id)
  assert.notEqual(third, number)
  const [row] =
    await database`select count(*) = count(distinct public_port) as differ from route where public_port is not null`
  assert.equal(row?.['differ'], true)
})
