import type { Attempt } from '../../lib/attempt.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { nobodyWaits } from '../../lib/nobody-waits.ts'
import { EngineError, type Release } from '../engine.ts'
import { type Kind, type KubeObject, kinds, plain } from './client/index.ts'
import { followObjects } from './follow-objects.ts'
import { judgeStart, type StartView } from './health.ts'
import type { KubeHost } from './host.ts'
import { labelsOf } from './manifests.ts'
import { namespaceOf, volumeName } from './names.ts'
import { type PodState, toDeploymentState, toPodState } from './pod-state.ts'
import { explainWaiting, isRegistryAway } from './waiting.ts'

/** After this time the log says what is missing, long before the deadline. */
const hintMs = 5000

export interface Wait {
  /** By the clock's monotonic time. */
  readonly deadlineMs: number
  readonly ranBefore: boolean
  /** How many replicas must be ready. */
  readonly needed: number
}

/**
 * Waits until the release has its replicas and all of them are ready. Throws EngineError, or
 * KubeError if the API server is away.
 */
export async function untilHealthy(
  host: KubeHost,
  release: Release,
  { deadlineMs, ranBefore, needed }: Wait,
  { signal: outer, output }: Attempt,
): Promise<readonly PodState[]> {
  const done = new AbortController()
  const signal = AbortSignal.any([outer, done.signal])
  const view: { -readonly [K in keyof StartView]: StartView[K] } = {
    deployment: undefined,
    pods: undefined,
    exitsBefore: new Map(),
    needed,
  }
  const ended = Promise.withResolvers<readonly PodState[]>()
  const look = (): void => {
    pass(view, ranBefore)
    const verdict = judgeStart(release, view)
    if (!verdict) return
    if ('healthy' in verdict) ended.resolve(verdict.healthy)
    else ended.reject(verdict.failure)
  }
  const follow = async <T extends KubeObject, K>(kind: Kind<T>, reduce: (one: T) => K, take: (all: K[]) => void) => {
    const selection = { namespace: namespaceOf(release.environment), labels: labelsOf(release, host.instance) }
    for await (const objects of followObjects(host, { kind, selection, reduce }, signal)) {
      take([...objects.values()])
      look()
    }
  }
  const giveUp = async (): Promise<never> => {
    const { clock } = host
    await clock.sleep(Math.min(hintMs, Math.max(0, deadlineMs - clock.monotonic())), signal)
    output.line(`Not ready yet: ${await explain(host, release, view, signal)}`, 'warning')
    await clock.sleep(Math.max(0, deadlineMs - clock.monotonic()), signal)
    throw await lateError(host, release, view, signal)
  }
  try {
    return await Promise.race([
      ended.promise,
      follow(kinds.deployment, toDeploymentState, ([one]) => {
        view.deployment = one
      }),
      follow(kinds.pod, toPodState, (pods) => {
        if (view.pods === undefined) view.exitsBefore = exitsOf(pods)
        view.pods = pods
      }),
      giveUp(),
    ]).then((result) => {
      if (result === undefined) throw new EngineError('unreachable', 'the cluster no longer reports the release')
      return result
    })
  } finally {
    ended.promise.catch(() => {})
    done.abort(nobodyWaits)
  }
}

const exitsOf = (pods: readonly PodState[]): ReadonlyMap<string, number> =>
  new Map(pods.filter(({ running }) => running).map(({ name, exits }) => [name, exits]))

/** The places at which a test may end the process. */
function pass({ pods = [] }: StartView, ranBefore: boolean): void {
  if (ranBefore || pods.length === 0) return
  failpoint('engine.created')
  if (pods.some(({ running }) => running)) failpoint('engine.started')
}

async function lateError(host: KubeHost, release: Release, view: StartView, signal: AbortSignal): Promise<EngineError> {
  const why = await explain(host, release, view, signal)
  const isAway = view.pods?.some(({ waiting }) => waiting && isRegistryAway(waiting)) ?? false
  const { startDeadlineSeconds } = release.workload
  return new EngineError(
    isAway ? 'registry-away' : 'not-ready',
    `did not become ready within ${startDeadlineSeconds} s: ${why}`,
  )
}

/** Says what a release waits for. */
async function explain(
  host: KubeHost,
  release: Release,
  { pods, needed: wanted }: StartView,
  signal: AbortSignal,
): Promise<string> {
  const { kube } = host
  const live = (pods ?? []).filter(({ isLeaving }) => !isLeaving)
  const unready = live.filter(({ isReady }) => !isReady)
  // One that no node takes stays so, while the others may only be on their way.
  const slow = unready.find(({ waiting }) => waiting?.reason === 'Unschedulable') ?? unready[0]
  if (!slow) {
    return live.length < wanted
      ? `${wanted - live.length} of ${wanted} replicas are not created yet`
      : 'it has not run for long enough yet'
  }
  if (slow.waiting) {
    const volumes = slow.waiting.reason === 'Unschedulable' ? await pendingVolumes(host, release, signal) : ''
    return `${slow.name}: ${explainWaiting(slow.waiting)}${volumes}`
  }
  if (!slow.running) return slow.exits > 0 ? `it keeps exiting (${slow.exits} times so far)` : 'it is not running'
  const fields = `involvedObject.name=${slow.name},reason=Unhealthy`
  const { items } = await kube.list(kinds.event, { namespace: slow.namespace, fields }, signal)
  const said = items.at(-1)?.message
  return said ? plain(said) : `${slow.name} runs, and has not passed its readiness probe yet`
}

/** Says which volumes are not there yet, and why. */
async function pendingVolumes({ kube }: KubeHost, release: Release, signal: AbortSignal): Promise<string> {
  const namespace = namespaceOf(release.environment)
  const said = release.workload.storage.map(async ({ id }) => {
    const name = volumeName(id)
    const claim = await kube.get(kinds.volumeClaim, { namespace, name }, signal)
    if (claim?.status?.phase === 'Bound') return ''
    const { items } = await kube.list(kinds.event, { namespace, fields: `involvedObject.name=${name}` }, signal)
    const storageClass = claim?.spec?.storageClassName
    const place = storageClass === undefined ? 'without a storage class' : `of the storage class ${storageClass}`
    return plain(`; the volume ${name} ${place} is not there: ${items.at(-1)?.message ?? 'nothing has created it yet'}`)
  })
  return (await Promise.all(said)).join('')
}
