import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { inClusterAccess } from '../../server/clusters/in-cluster.ts'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { KubernetesEngine } from '../../server/engines/kubernetes/kubernetes-engine.ts'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { newId } from '../../server/lib/id.ts'
import { Secret } from '../../server/lib/secret.ts'
import { until } from '../support/until.ts'
import { imageName } from './cluster/build.ts'
import { kubectl, untilSucceeds } from './cluster/commands.ts'
import { pki, ports } from './cluster/settings.ts'
import { adminAccess, loopbackGuard, openKube } from './support/access.ts'
import { allow, forbid } from './support/allow.ts'

// A user of the cluster with no rights at first, as the documentation creates one.

const name = `test-${newId().slice(-8)}`
const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)
const newToken = async (): Promise<string> =>
  (await kubectl(['create', 'token', 'quayside', '--namespace', name, '--duration=10m'])).trim()
const directory = await mkdtemp(join(tmpdir(), 'quayside-token-'))

before(async () => {
  await kubectl(['create', 'namespace', name])
  await kubectl(['create', 'serviceaccount', 'quayside', '--namespace', name])
})
after(async () => {
  await forbid(name)
  await kubectl(['delete', 'namespace', name, '--wait=false'])
  await rm(directory, { recursive: true })
  kube.close()
})

async function openEngine(): Promise<KubernetesEngine> {
  const token = new Secret(await newToken())
  return new KubernetesEngine({
    access: async () => {
      const { server, authority } = await adminAccess()
      return { server, authority, token }
    },
    instance: name,
    guard: loopbackGuard,
    clock,
    helperImage: imageName('tools'),
    registry: undefined,
    hasDomain: true,
  })
}

const metricsAnswer = () =>
  untilSucceeds('an answer of the metrics API', 90, () => kubectl(['get', '--raw', '/apis/metrics.k8s.io/v1beta1']))
const setMetricsServers = (count: number) =>
  kubectl(['--namespace', 'kube-system', 'scale', 'deployment/metrics-server', `--replicas=${count}`])

test('rights on metrics are asked for once a program answers for them', async (t) => {
  const engine = await openEngine()
  t.after(async () => {
    engine.close()
    await setMetricsServers(1)
    await metricsAnswer()
  })
  const messages = async () => (await engine.listFindings(limit())).map(({ message }) => message)
  const areMissing = async () => (await messages()).some((message) => / may not .*\.metrics\.k8s\.io/.test(message))
  await metricsAnswer()
  assert.ok(await areMissing())
  await setMetricsServers(0)
  await until('no program answers', async () => (await messages()).some((message) => message.includes('no metrics')))
  assert.equal(await areMissing(), false)
})

test('each missing right is a finding whose commands mend it', async (t) => {
  const engine = await openEngine()
  t.after(() => engine.close())
  await metricsAnswer()
  const findings = await engine.listFindings(limit())
  const lacking = findings.filter(({ message }) => message.includes('may not'))
  assert.ok(
    lacking.some(({ message, isBlocking }) => isBlocking && / may not .*create.* deployments\.apps/.test(message)),
  )
  assert.ok(lacking.every(({ message }) => message.endsWith(`--serviceaccount=${name}:quayside`)))
  for (const { message } of lacking) await allow(message, name)
  await until('nothing is missing', async () => {
    const left = (await engine.listFindings(limit())).map(({ message }) => message)
    return left.every((message) => !message.includes('may not'))
  })
  assert.ok((await engine.listFindings(limit())).every(({ isBlocking }) => !isBlocking))
})

test('a service account reaches the cluster, also after its token was replaced', async () => {
  await writeFile(join(directory, 'ca.crt'), await readFile(join(pki, 'ca.crt')))
  await writeFile(join(directory, 'token'), 'not.a.token')
  let nowMs = 0
  const inCluster = { clusterId: newId(), server: `https://127.0.0.1:${ports.api}`, directory }
  const access = await inClusterAccess(inCluster, { ...clock, monotonic: () => nowMs })
  // Without a client certificate, which would be another user.
  const client = openKube({ ...access, certificate: undefined, key: undefined })
  const list = () => client.list(kinds.pod, { namespace: name }, limit())
  await assert.rejects(list(), { status: 401 })
  await writeFile(join(directory, 'token'), `${await newToken()}\n`)
  await assert.rejects(list(), { status: 401 })
  nowMs += 11_000
  assert.deepEqual((await list()).items, [])
  client.close()
})
