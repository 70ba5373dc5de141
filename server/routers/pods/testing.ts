import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../../../test/support/free-port.ts'
import { until } from '../../../test/support/until.ts'
import { systemClock as clock } from '../../lib/clock.ts'
import { killGroup, start } from '../../lib/run.ts'
import type { KubeKind, KubeObject } from '../ingress/kube-objects.ts'
import type { Router } from '../router.ts'
import type { TlsSource } from '../tls-source.ts'
import { type KeptKind, keptCertificates, keptTable, keptVolume } from './kept-objects.ts'
import type { PodKube } from './pod-kube.ts'
import { createPodRouter } from './pod-router.ts'
import { keySecretName, type PodRouterSettings, routerName } from './router-objects.ts'

const program = fileURLToPath(new URL('../../../router/main.ts', import.meta.url))
const namespace = 'quayside-router-test'
const labels = { 'quayside.io/instance': 'test', 'quayside.io/router': 'true' }

export const testSetting: PodRouterSettings & { namespace: string; labels: typeof labels; reached: object } = {
  image: 'registry.test/router@sha256:0',
  replicas: 2,
  exposure: { type: 'LoadBalancer' },
  trusted: [],
  connections: { total: 10_000, perClient: 1_000 },
  namespace,
  labels,
  reached: { matchLabels: { a: 'b' } },
}

/** A router process that a cluster in memory shows as a pod. */
export interface TestPod {
  readonly name: string
  /** The ports of its requests over HTTP and HTTPS. */
  readonly port: number
  readonly tlsPort: number
  /** Whether no connection reaches it. Those that exist break. */
  isCut: boolean
  isLeaving: boolean
  /** Ends its process. */
  kill(): Promise<void>
}

/** A cluster in memory whose pods are router processes of this machine. */
export interface PodCluster {
  readonly kube: PodKube
  readonly pods: readonly TestPod[]
  /** The names of removed pods. */
  readonly removed: readonly string[]
  /** Whether the API server answers. */
  isAway: boolean
  object(kind: string, name: string): KubeObject | undefined
  /** Removes all Secrets, as somebody does who deletes the namespace. */
  loseSecrets(): void
  /** Starts a router as Kubernetes does, with what the Secrets have at that moment. */
  addPod(): Promise<TestPod>
  isReady(pod: TestPod): Promise<boolean>
  router(certificates?: TlsSource, change?: Partial<PodRouterSettings>): Router
  close(): Promise<void>
}

const answer = (status: number, text: string): Error => Object.assign(new Error(text), { status })

interface Known extends TestPod {
  readonly controlPort: number
  readonly readyPort: number
  readonly streams: Set<Duplex>
  isGone: boolean
}

export async function openPodCluster(): Promise<PodCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-pods-'))
  const objects = new Map<string, KubeObject>()
  const pods: Known[] = []
  const removed: string[] = []
  const keyOf = (kind: string, name: string): string => `${kind}/${name}`
  const dataOf = (name: string, key: string): Buffer | undefined => {
    const text = Object(objects.get(keyOf('Secret', name))).data?.[key]
    return text === undefined ? undefined : Buffer.from(text, 'base64')
  }
  const check = (): void => {
    if (cluster.isAway) throw answer(0, 'the API server is away')
  }
  const put = (object: KubeObject): KubeObject => {
    objects.set(keyOf(object.kind, object.metadata.name), object)
    return object
  }
  const isReady = async (pod: TestPod): Promise<boolean> => {
    const known = pods.find(({ name }) => name === pod.name)
    return fetch(`http://127.0.0.1:${known?.readyPort}/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  }
  const toObject = async (pod: Known): Promise<KubeObject & { readonly status: object }> => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: pod.name,
      namespace,
      ...{ uid: pod.name, ...(pod.isLeaving && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: (await isReady(pod)) ? 'True' : 'False' }],
    },
  })
  const kube: PodKube = {
    get: async ({ kind }, { name }) => {
      check()
      const found = objects.get(keyOf(kind, name))
      if (kind !== 'Deployment' || !found) return found
      const ready = await Promise.all(pods.filter(({ isGone }) => !isGone).map(isReady))
      const count = ready.filter(Boolean).length
      const status = { replicas: count, updatedReplicas: count, availableReplicas: count, observedGeneration: 1 }
      return { ...found, metadata: { ...found.metadata, ...{ generation: 1 } }, ...{ status } }
    },
    create: async (object) => {
      check()
      if (objects.has(keyOf(object.kind, object.metadata.name))) throw answer(409, 'it exists')
      return put(object)
    },
    apply: async (object) => {
      check()
      return put(object)
    },
    list: async ({ kind }: KubeKind) => {
      check()
      if (kind === 'Service') {
        const isName = ({ metadata }: KubeObject): boolean => metadata.labels?.['quayside.io/route'] !== undefined
        return { items: [...objects.values()].filter((object) => object.kind === kind && isName(object)) }
      }
      const items = kind === 'Pod' ? await Promise.all(pods.filter(({ isGone }) => !isGone).map(toObject)) : []
      return { items }
    },
    remove: async ({ kind }, { name }) => {
      check()
      removed.push(name)
      objects.delete(keyOf(kind, name))
      return true
    },
    portForward: async ({ pod: name }) => {
      check()
      const pod = pods.find((one) => one.name === name)
      if (!pod || pod.isGone) throw answer(404, 'no such pod')
      // Like a connection to a node that is gone.
      if (pod.isCut) return new Duplex({ read: () => {}, write: () => {} })
      const stream = connect({ host: '127.0.0.1', port: pod.controlPort })
      pod.streams.add(stream)
      stream.on('error', () => {})
      stream.on('close', () => pod.streams.delete(stream))
      return stream
    },
  }
  const addPod = async (): Promise<TestPod> => {
    const name = `router-${pods.length}`
    const place = (file: string): string => join(folder, name, file)
    await mkdir(join(folder, name))
    await writeFile(place('key'), dataOf('router-key', 'key') ?? '')
    for (const kind of [keptTable, keptCertificates]) {
      await mkdir(place(kind.volume))
      for (const [file, content] of keptFilesIn(objects, kind)) await writeFile(join(place(kind.volume), file), content)
    }
    const [port, controlPort, readyPort] = [await findFreePort(), await findFreePort(), await findFreePort()]
    const tlsPort = await findFreePort()
    const flags = {
      host: '127.0.0.1',
      port,
      'tls-port': tlsPort,
      'control-port': controlPort,
      'control-key': place('key'),
      'ready-port': readyPort,
      stored: place(keptTable.volume),
      'stored-certificates': place(keptCertificates.volume),
      state: place('routes.json'),
      'leave-seconds': 1,
    }
    const child = start(
      process.execPath,
      [program, ...Object.entries(flags).map(([flag, to]) => `--${flag}=${to}`)],
      {},
    )
    const pod: Known = {
      name,
      port,
      tlsPort,
      controlPort,
      readyPort,
      streams: new Set(),
      isLeaving: false,
      isGone: false,
      cut: false,
      get isCut() {
        return this.cut
      },
      set isCut(isCut: boolean) {
        this.cut = isCut
        if (isCut) for (const stream of this.streams) stream.destroy()
      },
      kill: async () => {
        pod.isGone = true
        killGroup(child)
        await until('the router is gone', () => child.exitCode !== null || child.signalCode !== null)
      },
    } as Known & { cut: boolean }
    await until('the router answers probes', () =>
      fetch(`http://127.0.0.1:${readyPort}/alive`).then(
        () => true,
        () => false,
      ),
    )
    pods.push(pod)
    return pod
  }
  const cluster: PodCluster = {
    kube,
    pods,
    removed,
    isAway: false,
    object: (kind, name) => objects.get(keyOf(kind, name)),
    loseSecrets: () => {
      for (const [key, { kind }] of objects) if (kind === 'Secret' && !key.endsWith(keySecretName)) objects.delete(key)
    },
    addPod,
    isReady,
    router: (certificates, change) =>
      createPodRouter({
        certificates,
        kube,
        clock,
        setting: { ...testSetting, ...change },
        pullConfig: async () => undefined,
        names: {
          routeLabels: { 'quayside.io/route': 'true' },
          podsOf: ({ environment, release }) => ({ namespace: environment, labels: { release } }),
        },
      }),
    close: async () => {
      await Promise.all(pods.filter(({ isGone }) => !isGone).map((pod) => pod.kill()))
      await rm(folder, { recursive: true, force: true })
    },
  }
  return cluster
}

interface VolumeSource {
  readonly secret: {
    readonly name: string
    readonly items?: readonly { readonly key: string; readonly path: string }[]
  }
}

/** Returns the files of a volume in a pod that starts now. */
export function keptFilesIn(objects: ReadonlyMap<string, KubeObject>, kind: KeptKind): readonly [string, Buffer][] {
  const sources: readonly VolumeSource[] = Object(keptVolume(kind)).projected.sources
  return sources.flatMap(({ secret: { name, items } }) =>
    Object.entries<string>(Object(objects.get(`Secret/${name}`)).data ?? {}).flatMap(
      ([key, value]): [string, Buffer][] => {
        const path = items ? items.find((item) => item.key === key)?.path : key
        return path === undefined ? [] : [[path, Buffer.from(value, 'base64')]]
      },
    ),
  )
}

/** A cluster whose routers run and have an empty table. */
export async function startedPodCluster(count: number): Promise<PodCluster & { readonly first: Router }> {
  const cluster = await openPodCluster()
  const first = cluster.router()
  // Without a running router, the table is only stored.
  await first.replaceAll([], AbortSignal.timeout(10_000)).catch(() => {})
  if (!cluster.object('Secret', keySecretName)) throw new Error('there is no key')
  for (let index = 0; index < count; index++) await cluster.addPod()
  await first.replaceAll([], AbortSignal.timeout(10_000))
  return Object.assign(cluster, { first })
}

export { routerName }
