import type { Attempt } from '../../lib/attempt.ts'
import { failpoint } from '../../lib/failpoint.ts'
import type { Release } from '../engine.ts'
import { isAutoscaled, ownsReplicas, setReplicas } from './autoscaler.ts'
import { changedPaths } from './changed-paths.ts'
import { type Deployment, isKubeError, type KubeObject, kindOf, kinds } from './client/index.ts'
import { mark } from './drift.ts'
import { environmentContents, untilCounted } from './environments.ts'
import type { KubeHost } from './host.ts'
import { label } from './labels.ts'
import { releaseObjects } from './manifests.ts'
import { namespaceOf, releaseName } from './names.ts'
import { isOptional } from './optional-kinds.ts'

/** Somebody may change an object at the same moment, such as the platform itself when it scales. */
const mostTries = 5

/**
 * Engine.renewEnvironment for Kubernetes. Objects are compared by a dry run of the API server, so
 * one that is as it should be is not written.
 */
export async function renewEnvironment(
  host: KubeHost,
  environment: string,
  releases: () => Promise<readonly Release[]>,
  attempt: Attempt,
): Promise<string[]> {
  const { kube, instance } = host
  const { signal } = attempt
  const found = await kube.get(kinds.namespace, { name: namespaceOf(environment) }, signal)
  const isOurs = found?.metadata.labels?.[label.instance] === instance
  // It is created by the first deployment of the environment.
  if (!isOurs || found.metadata.deletionTimestamp !== undefined) return []
  const { namespace, objects, limits, setting } = await environmentContents(host, environment)
  const lines: string[] = []
  for (const object of [namespace, ...objects, ...limits]) {
    lines.push(...(await renewObject(host, object, signal)))
  }
  await untilCounted(host, limits, signal)
  for (const release of await releases()) {
    // Objects of one release follow each other, so that a kill leaves few of them half done.
    lines.push(...(await renewRelease(host, release, setting, attempt)))
  }
  return lines
}

async function renewRelease(
  host: KubeHost,
  release: Release,
  setting: Parameters<typeof releaseObjects>[1],
  { signal }: Attempt,
): Promise<string[]> {
  const place = { namespace: namespaceOf(release.environment), name: releaseName(release) }
  const deployment = await host.kube.get(kinds.deployment, place, signal)
  // It is stopped, asleep, or was never started here.
  if (deployment?.metadata.labels?.[label.instance] !== host.instance) return []
  const lines: string[] = []
  for (const object of releaseObjects(release, setting)) {
    const isDeployment = object.kind === 'Deployment'
    lines.push(
      ...(isDeployment
        ? await renewDeployment(host, release, object, signal)
        : await renewObject(host, object, signal)),
    )
  }
  return lines.map((line) => `Service "${release.displayName}": ${line}`)
}

/** Brings an object to this version. One of somebody else is left alone. */
async function renewObject({ kube, instance }: KubeHost, object: KubeObject, signal: AbortSignal): Promise<string[]> {
  const found = await kube.get(kindOf(object), object.metadata, signal)
  if (found && found.metadata.labels?.[label.instance] !== instance) {
    return [`${nameOf(object)} belongs to somebody else and is unchanged.`]
  }
  let paths: readonly string[] = []
  try {
    if (found) paths = changedPaths(found, await kube.apply(object, signal, { dryRun: true }))
    if (found && paths.length === 0) return []
    await mark({ kube, instance }, await kube.apply(object, signal), object, signal)
  } catch (error) {
    // The check of the cluster lists this right.
    if (isOptional(kindOf(object)) && isKubeError(error, 403, 404)) {
      return [`${nameOf(object)} was not applied: ${error.message}.`]
    }
    throw error
  }
  failpoint('renew.applied')
  return [found ? `${nameOf(object)} was changed: ${paths.join(', ')}.` : `${nameOf(object)} was created.`]
}

/**
 * Brings the Deployment of a release to this version, with the replicas that it has now. One whose
 * replicas would be replaced for that is left for the next deployment of the service.
 */
async function renewDeployment(
  host: KubeHost,
  release: Release,
  object: KubeObject,
  signal: AbortSignal,
): Promise<string[]> {
  const { kube } = host
  const before = await kube.get(kinds.deployment, object.metadata, signal)
  if (isAutoscaled(release.workload) && before && ownsReplicas(before)) {
    await setReplicas(host, object.metadata, before.spec.replicas ?? 1, signal)
  }
  for (let tries = 1; ; tries++) {
    const found = await kube.get(kinds.deployment, object.metadata, signal)
    if (!found || found.metadata.deletionTimestamp !== undefined) return []
    const wished = withReplicasOf(object, found)
    try {
      const paths = changedPaths(found, await kube.apply(wished, signal, { dryRun: true }))
      if (paths.length === 0) return []
      if (paths.some((path) => path.startsWith('spec.template'))) {
        return [`${nameOf(object)} keeps its form until the next deployment, which replaces its replicas.`]
      }
      await mark(host, await kube.apply(wished, signal), wished, signal)
      failpoint('renew.applied')
      return [`${nameOf(object)} was changed: ${paths.join(', ')}.`]
    } catch (error) {
      if (!isKubeError(error, 409) || tries === mostTries) throw error
    }
  }
}

/** The version makes sure that nobody changed or removed it meanwhile. */
function withReplicasOf(object: KubeObject, found: Deployment): KubeObject {
  const { uid, resourceVersion } = found.metadata
  const { spec } = Object(object)
  return {
    ...object,
    metadata: { ...object.metadata, ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
    // An autoscaler owns the number of a release without one.
    ...('replicas' in spec && { spec: { ...spec, replicas: found.spec.replicas ?? 1 } }),
  }
}

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`
