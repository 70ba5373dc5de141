import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fastify from 'fastify'
import { createClientOf } from '../../client/client.ts'
import { contract, type Operation, type OperationName } from '../../contract/contract.ts'
import { matrixPage } from '../../contract/matrix-page.ts'
import { openApi, plainPaths } from '../../contract/openapi.ts'
import { cellsOf, filled, operationsIn } from '../../contract/services/kind-operations.ts'
import { type Matrix, matrix } from '../../contract/services/matrix.ts'
import type { Section } from '../../contract/services/templates.ts'
import type { Handlers } from '../../server/http/call.ts'
import { mountContract } from '../../server/http/mount.ts'
import { targetQuery } from '../../server/http/target-query.ts'
import { systemClock } from '../../server/lib/clock.ts'

/** The keys of the matrix, in its order. Object.keys loses their type. */
const sections = Object.keys(matrix) as Section[]
const places = sections.flatMap((section) => cellsOf(section, matrix))
const supported = places.filter(({ cell }) => cell === true)
const nameOf = ({ template, kind }: (typeof places)[number]): string => filled(template, kind)
const requestOf = ({ method, path }: Operation): string => `${method} ${path}`

test('the operations of kinds in the contract are the supported cells of the matrix', () => {
  const ofKinds = Object.entries<Operation>(contract).filter(([, { kind }]) => kind !== undefined)
  assert.deepEqual(ofKinds.map(([name]) => name).sort(), supported.map(nameOf).sort())
})

test('the OpenAPI document has each supported cell and none of the others', () => {
  const paths: Record<string, Record<string, { operationId: string }>> = Object(openApi('0')).paths
  const requests = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { operationId }]) => [`${method.toUpperCase()} ${path}`, operationId] as const,
    ),
  )
  const documented = new Map<string, string>(requests)
  for (const place of supported) assert.equal(documented.get(requestOf(place.operation)), nameOf(place))
  const known = new Set<string>(supported.map(({ operation }) => requestOf(operation)))
  for (const place of places) {
    const request = requestOf(place.operation)
    if (place.cell !== true && !known.has(request)) assert.ok(!documented.has(request), nameOf(place))
  }
})

test('docs/kinds.md matches the matrix', () => {
  const written = readFileSync(new URL('../../docs/kinds.md', import.meta.url), 'utf8')
  assert.equal(written, matrixPage(), 'run: npm run emit')
})

/** The matrix with one more supported cell: the links of jobs. */
const changed = {
  ...matrix,
  services: { ...matrix.services, 'list{Kind}Links': [true, true, 'no URL', true, true, 'no ports'] },
} as const satisfies Matrix
const services = operationsIn('services', changed)
const added = services.listJobLinks

/** Mounts operations and returns whether one route exists. */
function hasRoute(operations: Readonly<Record<string, Operation>>, { method, path }: Operation): boolean {
  const app = fastify()
  const options = {
    database: Object.create(null),
    clock: systemClock,
    vault: Object.create(null),
    plans: Object.create(null),
    readCredential: async () => undefined,
    budgets: Object.create(null),
    handlers: new Proxy({} as Handlers, { get: () => async () => ({}) }),
    targetQuery,
  }
  mountContract(app, options, operations)
  return app.hasRoute({ method, url: path.replace(/\{(\w+)\}/g, ':$1') })
}

test('a cell that becomes true adds the operation to the routes and the document', () => {
  assert.equal(hasRoute(contract, added), false)
  assert.equal(hasRoute({ ...contract, ...services }, added), true)
  assert.equal(plainPaths()[added.path], undefined)
  const { operationId, tags } = Object(plainPaths(services)[added.path]).get
  assert.deepEqual([added.path, operationId, tags], ['/job/{jobId}/link', 'listJobLinks', ['Job']])
})

test('a cell that becomes true adds a typed method to the client', async () => {
  type Known = 'listJobLinks' extends OperationName ? true : false
  const known: Known = false
  assert.equal(known, false)
  const answer = { results: [] }
  const asked: string[] = []
  const client = createClientOf(services, {
    baseUrl: 'http://api.example',
    token: 'quay_x',
    fetch: async (input) => {
      asked.push(String(input))
      return Response.json(answer)
    },
  })
  assert.deepEqual(await client.listJobLinks({ jobId: 'a' }), answer)
  assert.deepEqual(asked, ['http://api.example/job/a/link'])
})
