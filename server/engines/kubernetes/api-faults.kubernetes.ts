import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { adminAccess, loopbackGuard } from '../../../test/kubernetes/support/access.ts'
import {
  type ApiProxy,
  type Fault,
  only,
  refuse,
  startApiProxy,
  type WatchedEvent,
} from '../../../test/kubernetes/support/api-proxy.ts'
import { until } from '../../../test/support/until.ts'
import { createAddressGuard } from '../../lib/address.ts'
import { systemClock as clock } from '../../lib/clock.ts'
import { Secret } from '../../lib/secret.ts'
import { attempt, newRelease } from '../engine.cases.ts'
import { EngineError, type Observation, type Release } from '../engine.ts'
import { type KubeAccess, kinds } from './client/index.ts'
import { KubernetesEngine } from './kubernetes-engine.ts'
import { namespaceOf } from './names.ts'
import { type KubernetesBench, openKubernetesBench } from './test-bench.ts'
import { usePublishedImage } from './test-image.ts'

// An API server that answers badly, in front of a cluster that works.

const image = usePublishedImage()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)
let bench: KubernetesBench
let proxy: ApiProxy
let running: Release

const useCluster = (): void => {
  before(async () => {
    bench = await openKubernetesBench({ image: image.reference() })
    proxy = await startApiProxy()
    running = newRelease(bench.workload('web'))
    await bench.engine.start(running, attempt())
  })
  after(async () => {
    await proxy?.close()
    await bench?.close()
  })
}

/** The installation of the bench, behind the proxy or with other access. */
function open(
  t: { after(work: () => void): void },
  access: () => Promise<KubeAccess> = proxy.access,
  guard = loopbackGuard,
) {
  const options = { instance: bench.instance, guard, clock, helperImage: 'unused', registry: undefined }
  const engine = new KubernetesEngine({ access, ...options })
  t.after(() => {
    proxy.answerWith(undefined)
    engine.close()
  })
  return engine
}

/** Returns what an engine says about the running service: its state, or why it does not know it. */
async function look(engine: KubernetesEngine): Promise<string> {
  try {
    const seen: Observation = (await engine.observeAll(limit())).get(running.service) ?? { state: 'absent' }
    return seen.state
  } catch (error) {
    assert.ok(error instanceof EngineError, String(error))
    return `${error.reason}: ${error.message}`
  }
}

/** Does something again and again until the signal is aborted. */
async function repeatedly(everyMs: number, work: () => unknown, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    work()
    await clock.sleep(everyMs, signal).catch(() => {})
  }
}

/** Watches fail, and lists bring a byte now and then. */
const trickle: Fault = (request, response, pass) => {
  if (request.isWatch) return refuse(500, 'InternalError')(request, response, pass)
  response.writeHead(200, { 'content-type': 'application/json' })
  const end = new AbortController()
  response.on('close', () => end.abort())
  void repeatedly(50, () => response.write(' '), end.signal)
}
const text =
  (body: string): Fault =>
  (_, response) =>
    void response.end(body)
const errorEvent: Fault = ({ isWatch }, response, pass) => {
  const object = { kind: 'Status', code: 500, reason: 'InternalError', message: 'etcd is away' }
  if (isWatch) response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`)
  else pass()
}
const watches = ({ isWatch }: { readonly isWatch: boolean }): boolean => isWatch

/** Each fault, and what the engine may say about a service that runs meanwhile. */
const faults: readonly (readonly [string, Fault, RegExp])[] = [
  ['answers every watch that its version is too old', only(watches, refuse(410, 'Expired')), /^running$/],
  [
    'answers everything with a version that is too old',
    refuse(410, 'Expired'),
    /^unreachable: Expired by the test; it is tried again$/,
  ],
  [
    'asks everybody to wait',
    refuse(429, 'TooManyRequests', { 'retry-after': '1' }),
    /^unreachable: TooManyRequests by/,
  ],
  ['answers 500', refuse(500, 'InternalError'), /^unreachable: InternalError by the test; it is tried again$/],
  ['answers 503 without a reason', (_, response) => response.writeHead(503).end(), /^unreachable: no reason; it is/],
  ['sends bytes slowly', trickle, /^unreachable: .*did not answer in time/],
  ['never answers', () => {}, /^unreachable: .* cannot be reached \(it does not answer\); it is tried again$/],
  ['answers with a page', text('<html><title>504 CERT</title></html>'), /^unreachable: .* is not JSON/],
  ['ends each watch with an error', errorEvent, /^(running|unreachable: etcd is away; it is tried again)$/],
  [
    'sends only bookmarks',
    only(watches, text('{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1"}}}\n')),
    /^running$/,
  ],
]

describe('an engine whose API server', () => {
  useCluster()
  for (const [what, fault, said] of faults) {
    it(`${what} says so, repairs nothing, and continues by itself`, async (t) => {
      const engine = open(t)
      const untouched = open(t, adminAccess)
      assert.deepEqual([await look(engine), await look(untouched)], ['running', 'running'])
      proxy.answerWith(fault)
      proxy.cutWatches()
      const from = proxy.requests.length
      const said_ = new Set<string>()
      await until('the fault is seen', async () => {
        const now = await look(engine)
        said_.add(now)
        // Another cluster is not delayed.
        const startedMs = clock.monotonic()
        assert.equal(await look(untouched), 'running')
        assert.ok(clock.monotonic() - startedMs < 1_000)
        return proxy.requests.length > from + 1 && said.test(now)
      })
      for (const one of said_) assert.match(one, /^running$|^unreachable: /)
      const asked = proxy.requests.slice(from)
      assert.deepEqual(
        asked.filter(({ method }) => method !== 'GET'),
        [],
      )
      proxy.answerWith(undefined)
      await until('it is known again', async () => (await look(engine)) === 'running')
      assert.ok((await proxy.openConnections()) <= 20, `${await proxy.openConnections()} connections`)
    })
  }

  it('cuts all watches twice is known all the time', async (t) => {
    const engine = open(t)
    assert.equal(await look(engine), 'running')
    for (let cuts = 0; cuts < 2; cuts++) {
      const from = proxy.requests.length
      proxy.cutWatches()
      await until('it watches again', async () => {
        assert.equal(await look(engine), 'running')
        return proxy.requests.slice(from).filter(watches).length >= 3
      })
    }
    await until('no connection is left over', async () => (await proxy.openConnections()) <= 20)
  })

  it('cuts watches during a start starts the release once', async (t) => {
    const engine = open(t)
    const release = newRelease(bench.workload('web'))
    const end = new AbortController()
    t.after(() => end.abort())
    void repeatedly(1_500, () => proxy.cutWatches(), end.signal)
    const endpoints = await engine.start(release, attempt())
    assert.equal(endpoints.length, 1)
    end.abort()
    await engine.erase(release.service, attempt())
  })

  it('fails in the middle of a start leaves it to the next try, which finds the same pods', async (t) => {
    const engine = open(t)
    const release = newRelease(bench.workload('web'))
    const isDeployment = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
      method === 'PATCH' && path.includes('/deployments/')
    let answered = 0
    proxy.answerWith((request, response, pass) => {
      if (!isDeployment(request)) return pass()
      answered++
      // The object is written, and its answer is lost.
      pass()
      response.on('pipe', () => response.destroy())
    })
    await assert.rejects(engine.start(release, attempt()), { reason: 'unreachable' })
    assert.equal(answered, 1)
    proxy.answerWith(undefined)
    const [endpoint] = await engine.start(release, attempt())
    assert.ok(endpoint)
    const { items } = await bench.kube.list(kinds.pod, { namespace: namespaceOf(release.environment) }, limit())
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      [endpoint.replica],
    )
    await engine.erase(release.service, attempt())
  })

  it('reports that a node is lost during a start, waits for it, and names it', async (t) => {
    const engine = open(t)
    const release = newRelease({ ...bench.workload('web'), startDeadlineSeconds: 600 })
    // As the cluster reports pods of a node that no longer answers.
    const lose = (event: WatchedEvent): WatchedEvent => {
      const object = structuredClone(event.object) as unknown as {
        status?: { conditions?: { type: string; status: string }[] }
      }
      for (const condition of object.status?.conditions ?? []) {
        if (condition.type === 'Ready') condition.status = 'False'
      }
      return { ...event, object: object as never }
    }
    const isOfPods = ({ isWatch, path }: { readonly isWatch: boolean; readonly path: string }) =>
      isWatch && path.includes('/pods')
    proxy.answerWith(only(isOfPods, (_request, _response, pass) => pass(lose)))
    const lines: string[] = []
    const output = { line: (line: string) => void lines.push(line) }
    const starting = engine.start(release, { signal: limit(), output })
    await until('the log names the node', () =>
      lines.some((line) => /its node \S+ does not answer the cluster/.test(line)),
    )
    proxy.answerWith(undefined)
    proxy.cutWatches()
    await bench.kube.patch(
      kinds.pod,
      { namespace: namespaceOf(release.environment), name: (await podOf(release)).metadata.name },
      { metadata: { annotations: { changed: 'yes' } } },
      limit(),
    )
    assert.equal((await starting).length, 1)
    await engine.erase(release.service, attempt())
  })
})

const podOf = async ({ environment }: Release) => {
  const { items } = await bench.kube.list(kinds.pod, { namespace: namespaceOf(environment) }, limit())
  return items[0] ?? assert.fail('there is a pod')
}

describe('an engine whose access', () => {
  useCluster()
  const withToken = (token: string) => async (): Promise<KubeAccess> => {
    const { server, authority } = await proxy.access()
    return { server, authority, token: new Secret(token) }
  }
  const refusals = [
    [
      'has another authority',
      async () => ({ ...(await proxy.access()), authority: (await adminAccess()).certificate }),
      /^refused: .*is not accepted \([A-Z_]+\); send a new kubeconfig/,
    ],
    [
      'has a token that is not valid',
      () => withToken('canary-token')(),
      /does not accept the kubeconfig \(Unauthorized\)/,
    ],
  ] as const
  for (const [what, access, message] of refusals) {
    it(`${what} says that the kubeconfig must be replaced`, async (t) => {
      const said = await look(open(t, access))
      assert.match(said, message)
      assert.doesNotMatch(said, /canary/)
    })
  }

  it('is withdrawn while it is used is refused, and is known again with its right', async (t) => {
    const engine = open(t)
    assert.equal(await look(engine), 'running')
    proxy.answerWith(refuse(401, 'Unauthorized'))
    proxy.cutWatches()
    await until('it is refused', async () =>
      /^refused: the cluster does not accept the kubeconfig/.test(await look(engine)),
    )
    await assert.rejects(engine.start(running, attempt()), { reason: 'refused' })
    proxy.answerWith(undefined)
    await until('it is known again', async () => (await look(engine)) === 'running')
  })

  it('allows no network of pods fails a start, and says what the operator can do', async (t) => {
    const engine = open(t, adminAccess, createAddressGuard({ allowedPrivateCidrs: ['127.0.0.0/8'] }))
    const release = newRelease(bench.workload('web'))
    await assert.rejects(engine.start(release, attempt()), (error) => {
      assert.ok(error instanceof EngineError && error.reason === 'refused', String(error))
      assert.match(error.message, /has the address 10\.244\.0\.[0-9]{1,3}, to which the platform may not connect/)
      return true
    })
    assert.deepEqual(await engine.observe(release.service, limit()), { state: 'absent' })
    const seen = await engine.observe(running.service, limit())
    assert.ok(seen.state === 'running')
    assert.deepEqual(
      seen.replicas.flatMap(({ endpoints }) => endpoints),
      [],
    )
  })
})
