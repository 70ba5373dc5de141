import type { Attempt } from '../../lib/attempt.ts'
import { messageOf } from '../../lib/error.ts'
import { everyOne } from '../../lib/every-one.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { masker } from '../../lib/masker.ts'
import { type Endpoint, EngineError, type Release, type Starting, secretsIn } from '../engine.ts'
import { leftMs } from '../health.ts'
import { beginningReplicas, isAutoscaled, ownsReplicas, replicaCount, setReplicas } from './autoscaler.ts'
import { hasMetrics, metricsAdvice } from './check.ts'
import { type Deployment, isKubeError, type KubeObject, kinds } from './client/index.ts'
import { applyMarked } from './drift.ts'
import { ensureClaim } from './ensure-claim.ts'
import { ensureEnvironment } from './environments.ts'
import { hasKeda, lacksKeda, pauseEventScaling } from './event-scaler.ts'
import type { KubeHost } from './host.ts'
import { label, ownLabels } from './labels.ts'
import { lastLines } from './last-lines.ts'
import { labelsOf, releaseObjects, volumeClaims } from './manifests.ts'
import { namespaceOf, releaseName } from './names.ts'
import { refuseForeign } from './own-objects.ts'
import { endpointsOf } from './pod-state.ts'
import { removeRelease } from './retire.ts'
import { isService, ServiceNames } from './service-names.ts'
import { untilHealthy } from './wait-healthy.ts'

/**
 * Engine.start for Kubernetes. If the release fails and this call began it, its objects are
 * removed. One that ran before is left to Kubernetes, which repairs it. If the API server is away
 * or the call is aborted, nothing is removed.
 */
export async function startRelease(host: KubeHost, release: Release, attempt: Starting): Promise<Endpoint[]> {
  const place = { namespace: namespaceOf(release.environment), name: releaseName(release) }
  const found = await host.kube.get(kinds.deployment, place, attempt.signal)
  refuseForeign(host.instance, found)
  const nowMs = host.clock.now().getTime()
  const createdAt = found?.metadata.creationTimestamp
  const ageMs = createdAt === undefined ? 0 : Math.max(0, nowMs - Date.parse(createdAt))
  const deadlineMs = host.clock.monotonic() + leftMs(release.workload, ageMs)
  const ranBefore = (found?.status?.readyReplicas ?? 0) > 0
  const names = new ServiceNames(host)
  try {
    if (!found) attempt.whenBegun?.()
    const needed = ranBefore ? replicaCount(release.workload) : await beginning(host, release, attempt)
    await applyRelease(host, release, { found, needed, names }, attempt)
    const pods = await untilHealthy(host, release, { deadlineMs, ranBefore, needed }, attempt)
    failpoint('engine.healthy')
    attempt.output.line(pods.length === 1 ? 'The replica is healthy' : `All ${pods.length} replicas are healthy`)
    const endpoints = reachable(host, pods.flatMap(endpointsOf))
    await names.settle(attempt.signal)
    return endpoints
  } catch (error) {
    attempt.signal.throwIfAborted()
    if (!isFailure(error)) throw error
    const explained = await withLastLines(host, release, error)
    if (!ranBefore) await clear(host, release, names, attempt)
    throw explained
  }
}

/** Throws EngineError('refused') if a router of this machine may not connect to a replica. */
function reachable({ mayConnect }: KubeHost, endpoints: Endpoint[]): Endpoint[] {
  const refused = endpoints.find(({ address }) => !mayConnect(address))
  if (!refused) return endpoints
  throw new EngineError(
    'refused',
    `the pod ${refused.replica} has the address ${refused.address}, to which the platform may not connect; ask the ` +
      'operator to list the network of the pods in QUAYSIDE_ALLOW_PRIVATE_TARGETS, or give the cluster a domain of ' +
      'its own',
  )
}

/** Whether the release failed, and not the way to the cluster or this process. */
const isFailure = (error: unknown): boolean =>
  (error instanceof EngineError && error.reason !== 'unreachable') || isKubeError(error, 400, 403, 409, 422)

/** Returns with how many replicas a release begins. */
async function beginning({ kube, instance }: KubeHost, { service, workload }: Release, { signal }: Attempt) {
  if (!isAutoscaled(workload)) return replicaCount(workload)
  return beginningReplicas(workload, (await kube.list(kinds.deployment, selectionOf(service, instance), signal)).items)
}

/** What a start found and needs. */
interface Before {
  readonly found: Deployment | undefined
  /** The least number of replicas now. */
  readonly needed: number
  readonly names: ServiceNames
}

async function applyRelease(host: KubeHost, release: Release, before: Before, attempt: Attempt): Promise<void> {
  const { instance, kube } = host
  const { signal } = attempt
  if (release.workload.events && !(await hasKeda(kube, signal))) {
    const advice = 'install KEDA there, or remove its autoscaling policy'
    throw new EngineError('refused', `the cluster of "${release.displayName}" has ${lacksKeda}; ${advice}`)
  }
  const setting = await ensureEnvironment(host, release.environment, signal)
  await everyOne(volumeClaims(release, instance).map((claim) => ensureClaim(host, claim, attempt)))
  const objects = releaseObjects(release, setting)
  const apply = (object: KubeObject) => applyMarked(host, object, signal)
  // A failing call removes what it began, so nothing may be applied after it has failed.
  await before.names.offer(objects.filter(isService), signal)
  const others = () => everyOne(objects.filter((one) => !isService(one) && !isScaler(one)).map(apply))
  if (isAutoscaled(release.workload)) await withReplicas(host, release, before, others, attempt)
  else await others()
  await everyOne(objects.filter(isScaler).map(apply))
  if (release.workload.events) await pauseEventScaling(host, objectsOf(release, instance), false, signal)
}

const isScaler = ({ kind }: KubeObject): boolean => kind === kinds.autoscaler.kind || kind === kinds.scaledObject.kind

/** Applies the objects of an autoscaled release, and gives it the replicas that it lacks. */
async function withReplicas(
  host: KubeHost,
  release: Release,
  { found, needed }: Before,
  apply: () => Promise<unknown>,
  { signal, output }: Attempt,
): Promise<void> {
  const place = { namespace: namespaceOf(release.environment), name: releaseName(release) }
  const now = found?.spec.replicas ?? 1
  if (found && ownsReplicas(found)) await setReplicas(host, place, now, signal)
  await apply()
  if (!found || now < needed) await setReplicas(host, place, needed, signal)
  if (release.workload.events || (await hasMetrics(host.kube, signal))) return
  const number = `the number of replicas stays at ${Math.max(now, needed)}`
  output.line(`The cluster has no metrics, so ${number}. ${metricsAdvice}`, 'warning')
}

/** Adds what the failing replica printed. A failure to read it must not hide the real failure. */
async function withLastLines(host: KubeHost, release: Release, error: unknown): Promise<unknown> {
  if (!(error instanceof EngineError) || !['crashed', 'out-of-memory', 'not-ready'].includes(error.reason)) return error
  const lines = await lastLines(host, release, AbortSignal.timeout(5_000)).catch(() => [])
  const mask = masker(secretsIn(release.workload))
  const message = `${error.message}${hintOf(lines)}`
  return new EngineError(error.reason, message, { lastLines: lines.map(mask), cause: error })
}

function hintOf(lines: readonly string[]): string {
  if (lines.length === 0) return '; it printed nothing'
  const isForeign = lines.some((line) => line.includes('exec format error'))
  return isForeign ? '; its image is built for another architecture than that of the node' : ''
}

async function clear(host: KubeHost, release: Release, names: ServiceNames, { output }: Attempt): Promise<void> {
  try {
    const signal = AbortSignal.timeout(60_000)
    await everyOne([removeRelease(host, release, signal), names.undo(signal)])
  } catch (error) {
    output.line(`The rest of the failed release could not be removed yet: ${messageOf(error)}`, 'warning')
  }
}

/** Returns the selection of a release's objects. */
const objectsOf = (release: Release, instance: string) => ({
  namespace: namespaceOf(release.environment),
  labels: labelsOf(release, instance),
})

/** Returns the selection of a service's objects, in all namespaces. */
export const selectionOf = (service: string, instance: string) => ({
  labels: ownLabels(instance, { [label.service]: service }),
})
