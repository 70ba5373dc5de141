import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { Contract, OperationName } from '@quayside/contract'
import { ApiError, createClient, type Input } from './client.ts'

test('the client sends requests as in the contract and returns the responses', async (t) => {
  const seen: string[] = []
  const types: unknown[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    seen.push(`${request.method} ${request.url} ${request.headers.authorization} ${Buffer.concat(chunks)}`)
    types.push(request.headers['content-type'])
    if (request.url?.endsWith('/kubeconfig')) {
      return void (request.method === 'PUT' ? response.writeHead(204).end() : response.end('kind: Config'))
    }
    if (request.url?.endsWith('/terraformExport')) return void response.end(Buffer.from([0x50, 0xff, 0]))
    if (request.url?.endsWith('/helmDefaultValues')) return void response.end()
    if (request.method === 'DELETE') return void response.writeHead(204).end()
    if (request.method === 'PUT') {
      response.writeHead(409, { 'retry-after': '3' })
      return void response.end('{"status":409,"error":"Conflict","message":"taken","detail":"taken"}')
    }
    response.end('{"results":[]}')
  })
  server.listen(0, '127.0.0.1')
  t.after(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  // A listening TCP server has an address with a port.
  const { port } = server.address() as AddressInfo
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, token: 'quay_x' })

  assert.deepEqual(await client.listApplicationLog({ applicationId: 'a/b', query: { tail: 5 } }), { results: [] })
  assert.equal(await client.deleteProject({ projectId: 'p' }), undefined)
  const bytes = await client.exportEnvironmentConfigurationIntoTerraform({ environmentId: 'e' })
  assert.deepEqual([...bytes], [0x50, 0xff, 0])
  await assert.rejects(
    client.editProject({ projectId: 'p', body: { name: 'x' } }),
    (error) =>
      error instanceof ApiError && error.status === 409 && error.message === 'taken' && error.retryAfterSeconds === 3,
  )
  const cluster = { organizationId: 'o', clusterId: 'c' }
  assert.equal(await client.editClusterKubeconfig({ ...cluster, body: 'kind: Config\n' }), undefined)
  assert.equal(await client.getClusterKubeconfig(cluster), 'kind: Config')
  const source = { git_repository: { url: 'https://example.org/chart.git' } }
  assert.equal(await client.createHelmDefaultValues({ environmentId: 'e', body: { source } }), '')
  assert.deepEqual(seen, [
    'GET /application/a%2Fb/log?tail=5 Bearer quay_x ',
    'DELETE /project/p Bearer quay_x ',
    'GET /environment/e/terraformExport Bearer quay_x ',
    'PUT /project/p Bearer quay_x {"name":"x"}',
    'PUT /organization/o/cluster/c/kubeconfig Bearer quay_x kind: Config\n',
    'GET /organization/o/cluster/c/kubeconfig Bearer quay_x ',
    `POST /environment/e/helmDefaultValues Bearer quay_x ${JSON.stringify({ source })}`,
  ])
  // A string is sent as it is if the operation names its format. Everything else is JSON.
  const json = 'application/json'
  assert.deepEqual(types, [undefined, undefined, undefined, json, 'application/x-yaml', undefined, json])
})

type Accepts<T, Given> = Given extends T ? true : false
type BodyOf<N extends OperationName> = Input<Contract[N]> extends { readonly body: infer B } ? B : 'optional'

test('the type of a body requires exactly the fields that the server requires', () => {
  // The compiler checks these lines: each constant has the only value that its type allows.
  const withoutName: Accepts<BodyOf<'createProject'>, { description: string }> = false
  const withName: Accepts<BodyOf<'createProject'>, { name: string }> = true
  const withoutSource: Accepts<BodyOf<'createContainer'>, { name: string }> = false
  const withDefaults: Accepts<
    BodyOf<'createContainer'>,
    { name: string; image_name: string; tag: string; registry_id: string }
  > = true
  const portWithoutNumber: Accepts<
    BodyOf<'createContainer'>,
    { name: string; image_name: string; tag: string; registry_id: string; ports: { publicly_accessible: boolean }[] }
  > = false
  const portWithoutProtocol: Accepts<
    BodyOf<'createContainer'>,
    {
      name: string
      image_name: string
      tag: string
      registry_id: string
      ports: { internal_port: number; publicly_accessible: boolean }[]
    }
  > = true
  const optionalBody: BodyOf<'deployApplication'> = 'optional'
  assert.deepEqual(
    [withoutName, withName, withoutSource, withDefaults, portWithoutNumber, portWithoutProtocol],
    [false, true, false, true, false, true],
  )
  assert.equal(optionalBody, 'optional')
})
