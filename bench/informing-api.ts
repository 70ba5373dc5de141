import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { KubeObject } from '../server/engines/kubernetes/client/index.ts'
import { label } from '../server/engines/kubernetes/labels.ts'
import { labelsOf, releaseObjects } from '../server/engines/kubernetes/manifests.ts'
import { newId } from '../server/lib/id.ts'
import { selfSigned } from '../test/support/self-signed.ts'
import { benchRelease } from './kubernetes-release.ts'

// An API server that has the objects of many services in memory and answers lists and watches of
// them as a real one does. Its arguments: the port, the installation and the number of services.

const [port = 0, services = 0] = [Number(process.argv[2]), Number(process.argv[4])]
const instance = process.argv[3] ?? ''
const replicas = 2

/** What an API server keeps of each write, and clients do not need. */
const managedFields = Array.from({ length: 3 }, (_, index) => ({
  manager: `writer-${index}`,
  operation: 'Update',
  time: '2026-01-01T00:00:00Z',
  fieldsV1: Object.fromEntries(Array.from({ length: 20 }, (_unused, field) => [`f:field-${field}`, { '.': {} }])),
}))
const kept = new Map<string, KubeObject[]>([
  ['pods', []],
  ['deployments', []],
  ['nodes', []],
])

function addService(): void {
  const release = benchRelease()
  const found = releaseObjects(release, { instance }).find(({ kind }) => kind === 'Deployment')
  if (!found) throw new Error('a release has a Deployment')
  const deployment = Object(found)
  const metadata = { managedFields, uid: newId(), resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' }
  kept.get('deployments')?.push({
    ...deployment,
    metadata: { ...deployment.metadata, ...metadata, generation: 1 },
    status: { observedGeneration: 1, replicas, readyReplicas: replicas, availableReplicas: replicas, conditions },
  })
  for (let replica = 0; replica < replicas; replica++) {
    kept.get('pods')?.push({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...metadata,
        ...deployment.spec.template.metadata,
        name: `${deployment.metadata.name}-${newId().slice(-8)}`,
        namespace: deployment.metadata.namespace,
        labels: labelsOf(release, instance),
      },
      ...{
        spec: { ...deployment.spec.template.spec, nodeName: 'node' },
        status: podStatus(kept.get('pods')?.length ?? 0),
      },
    })
  }
}

const conditions = ['Available', 'Progressing'].map((type) => ({ type, status: 'True', lastTransitionTime: 'x' }))
function podStatus(service: number) {
  const state = { running: { startedAt: '2026-01-01T00:00:00Z' } }
  const image = { name: 'main', image: 'i', imageID: 'sha256:0', containerID: 'containerd://0' }
  return {
    phase: 'Running',
    podIP: `10.1.${service >> 8}.${service & 255}`,
    conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({ type, status: 'True' })),
    containerStatuses: [{ ...image, ready: true, started: true, restartCount: 0, state, lastState: {} }],
  }
}

const watches = new Map<string, Set<ServerResponse>>()
let version = 1
let asked = 0
const server = createServer(selfSigned, (request, response) => {
  const url = new URL(request.url ?? '', 'https://server')
  if (url.pathname === '/asked') return void response.end(String(asked))
  if (url.pathname === '/change') return void response.end(changeOne())
  asked++
  const kind = url.pathname.split('/').at(-1) ?? ''
  const objects = kept.get(kind)
  if (!objects) return void response.writeHead(404).end()
  if (url.searchParams.get('watch')) {
    const all = watches.get(kind) ?? new Set()
    watches.set(kind, all.add(response))
    response.flushHeaders()
    return void response.on('close', () => all.delete(response))
  }
  const from = Number(url.searchParams.get('continue') ?? 0)
  const next = from + Number(url.searchParams.get('limit') ?? objects.length)
  const metadata = { resourceVersion: String(version), ...(next < objects.length && { continue: String(next) }) }
  response.end(JSON.stringify({ metadata, items: objects.slice(from, next) }))
})

/** One pod is no longer ready. Returns the id of its service. */
function changeOne(): string {
  const pods = kept.get('pods') ?? []
  const index = version % pods.length
  const pod = Object(structuredClone(pods[index]))
  version++
  pod.metadata.resourceVersion = String(version)
  pod.status.containerStatuses[0].state = { waiting: { reason: 'CrashLoopBackOff' } }
  pods[index] = pod
  for (const response of watches.get('pods') ?? []) {
    response.write(`${JSON.stringify({ type: 'MODIFIED', object: pod })}\n`)
  }
  return pod.metadata.labels[label.service]
}

for (let service = 0; service < services; service++) addService()
server.listen(port, '127.0.0.1')
