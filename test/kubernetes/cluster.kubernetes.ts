import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { imageName } from './cluster/build.ts'
import { kubectl, tryTo, untilSucceeds } from './cluster/commands.ts'
import { findProcess } from './cluster/processes.ts'
import { versions } from './cluster/settings.ts'
import { startCluster } from './cluster/start.ts'

/** Creates a namespace, which the end of the test deletes, and returns kubectl in it. */
async function inNamespace(t: { after(work: () => Promise<unknown>): void }) {
  const name = `test-${randomBytes(4).toString('hex')}`
  await kubectl(['create', 'namespace', name])
  t.after(() => kubectl(['delete', 'namespace', name, '--wait=false']))
  return (args: readonly string[], stdin?: object) =>
    kubectl(['--namespace', name, ...args], {
      timeoutMs: 120_000,
      ...(stdin && { stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: stdin }) }),
    })
}

const container = (command: readonly string[], more: object = {}) => ({
  name: 'main',
  image: imageName('busybox'),
  imagePullPolicy: 'Never',
  command,
  ...more,
})

/** A Deployment of a web server that answers with the name of its pod, and a Service for it. */
const web = [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          containers: [
            container(['sh', '-c', 'mkdir /www && hostname > /www/index.html && exec httpd -f -p 8080 -h /www'], {
              readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
            }),
          ],
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
  },
]

test('the API server has the version that was built', async () => {
  const { serverVersion } = JSON.parse(await kubectl(['version', '--output=json']))
  assert.equal(serverVersion.gitVersion, `v${versions.kubernetes}`)
})

test('a pod reaches a service by its name', async (t) => {
  const kube = await inNamespace(t)
  await kube(['apply', '--server-side', '--filename=-'], web)
  await kube(['rollout', 'status', 'deployment/web', '--timeout=60s'])
  const ask = ['exec', 'deployment/web', '--', 'wget', '-q', '-O-', 'http://web/']
  // kube-proxy follows a finished rollout within a second.
  await untilSucceeds('an answer of the service', 10, async () => assert.match(await kube(ask), /^web-/))
})

test('a volume keeps its data when its pod is deleted', async (t) => {
  const kube = await inNamespace(t)
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
  }
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'writer' },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [
        container(['sh', '-c', 'echo started >> /data/log && exec sleep 3600'], {
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        }),
      ],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    },
  }
  for (const starts of [1, 2]) {
    await kube(['apply', '--server-side', '--filename=-'], [claim, pod])
    await kube(['wait', '--for=condition=Ready', 'pod/writer', '--timeout=60s'])
    assert.equal(await kube(['exec', 'writer', '--', 'cat', '/data/log']), 'started\n'.repeat(starts))
    await kube(['delete', 'pod', 'writer'])
  }
})

test('a start repairs a cluster whose programs were killed, and pods keep running', async (t) => {
  const kube = await inNamespace(t)
  await kube(['apply', '--server-side', '--filename=-'], web)
  await kube(['rollout', 'status', 'deployment/web', '--timeout=60s'])
  const pods = () => kube(['get', 'pods', '--output=jsonpath={.items[*].metadata.uid}'])
  const before = await pods()
  for (const name of ['kubelet', 'kube-apiserver', 'etcd', 'containerd']) {
    const pid = await findProcess(name)
    assert.ok(pid, `${name} runs`)
    process.kill(pid, 'SIGKILL')
    await untilSucceeds(`the end of ${name}`, 5, async () => assert.equal(await findProcess(name), undefined))
  }
  assert.notEqual((await tryTo('kubectl', ['get', '--raw', '/readyz'])).exitCode, 0)
  await startCluster()
  assert.equal(await pods(), before)
  await untilSucceeds('an answer of a pod', 30, () => kube(['exec', 'deployment/web', '--', 'true']))
})
