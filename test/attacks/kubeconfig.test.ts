import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../support/platform.ts'

// A kubeconfig makes the server connect to an address and send a secret there.

const connected: string[] = []
const platform = await createPlatform(
  { after },
  {
    works: true,
    connect: ({ engine }) => {
      connected.push(engine)
      throw new Error('no cluster is reached here')
    },
  },
)
const { a, b, call, database } = platform
const body = { name: 'far', region: 'here', cloud_provider: 'ON_PREMISE', kubernetes: 'SELF_MANAGED' }
const made = await call(a.tokens.ADMIN, 'POST', `/organization/${a.organizationId}/cluster`, body)
const id: string = Object(made.body).id

const kubeconfig = (server: string, user = '{ token: canary-4711 }'): string => `apiVersion: v1
kind: Config
current-context: here
clusters: [{ name: one, cluster: { server: "${server}" } }]
contexts: [{ name: here, context: { cluster: one, user: me } }]
users: [{ name: me, user: ${user} }]
`
const put = (text: string, token = a.tokens.ADMIN, organization = a.organizationId, cluster = id) =>
  call(token, 'PUT', `/organization/${organization}/cluster/${cluster}/kubeconfig`, text, {
    'content-type': 'application/x-yaml',
  })

const inside = [
  'https://127.0.0.1:6443',
  'https://2130706433:6443',
  'https://0x7f.1:6443',
  'https://[::1]:6443',
  'https://[::ffff:127.0.0.1]:6443',
  'https://localhost:6443',
  'https://api.localhost',
  'https://10.0.0.1:6443',
  'https://169.254.169.254/latest/meta-data',
  'https://0.0.0.0:6443',
]
for (const server of inside) {
  test(`a kubeconfig whose server is ${server} is rejected`, async () => {
    const answer = await put(kubeconfig(server))
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.text, /is not public/)
    assert.doesNotMatch(answer.text, /canary/)
  })
}

for (const user of [
  '{ exec: { command: sh, args: [-c, id] } }',
  '{ tokenFile: /etc/shadow }',
  '{ client-key: /root/key }',
]) {
  test(`a kubeconfig whose user is ${user} is rejected`, async () => {
    const answer = await put(kubeconfig('https://kubernetes.example.org', user))
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.text, /is not accepted/)
  })
}

test('nothing is stored or connected after a rejection', async () => {
  const [row] = await database`select sealed_kubeconfig, engine from cluster where id = ${id}`
  assert.deepEqual(row, { sealed_kubeconfig: null, engine: null })
  assert.deepEqual(connected, [])
})

test('another organization neither stores nor reads the kubeconfig of a cluster', async () => {
  const text = kubeconfig('https://kubernetes.example.org')
  for (const [organization, token] of [
    [a.organizationId, b.tokens.ADMIN],
    [b.organizationId, b.tokens.ADMIN],
  ] as const) {
    assert.equal((await put(text, token, organization)).status, 404)
    const read = await call(token, 'GET', `/organization/${organization}/cluster/${id}/kubeconfig`)
    assert.equal(read.status, 404)
  }
  assert.equal((await put(text, a.tokens.WRITE)).status, 403)
})

test('the built-in cluster takes no kubeconfig, and no name makes a cluster built in', async () => {
  const answer = await put(kubeconfig('https://kubernetes.example.org'), a.tokens.ADMIN, a.organizationId, a.clusterId)
  assert.equal(answer.status, 400)
  assert.match(answer.text, /does not run Kubernetes/)
})

test('a stored kubeconfig is sealed, and is in no log', async () => {
  assert.equal((await put(kubeconfig('https://kubernetes.example.org'))).status, 204)
  const [row] = await database<{ text: string }[]>`select row_to_json(c)::text as text from cluster c where id = ${id}`
  assert.doesNotMatch(row?.text ?? '', /canary/)
  assert.doesNotMatch(platform.logged.join('\n'), /canary/)
})

test('services on a cluster that was never deployed are refused', async () => {
  const { environmentId, applicationId } = a.objects
  await database`update environment set cluster_id = ${id} where id = ${environmentId}`
  const answer = await call(a.tokens.ADMIN, 'POST', `/application/${applicationId}/deploy`, {})
  assert.equal(answer.status, 400, answer.text)
  assert.match(answer.text, /deploy the cluster/)
})
