import type { Duplex } from 'node:stream'
import type { Attempt } from '../../../lib/attempt.ts'
import type { Clock } from '../../../lib/clock.ts'
import { startDeadline } from '../../../lib/deadline.ts'
import { EngineError } from '../../engine-error.ts'
import { isKubeError, type Kube, kinds } from '../client/index.ts'
import { asEngineErrors } from '../engine-errors.ts'
import { followObjects } from '../follow-objects.ts'
import { applyOwn, refuseForeign } from '../own-objects.ts'
import { type PodState, toPodState } from '../pod-state.ts'
import { mainContainer } from '../program.ts'
import { explainWaiting, finalReason } from '../waiting.ts'
import {
  builderClaim,
  builderLabels,
  builderNamespace,
  builderNamespaceName,
  builderObjects,
  type ClusterBuilderSettings,
} from './builder-objects.ts'
import { execStream } from './exec-stream.ts'

export interface BuilderPodOptions {
  readonly kube: Kube
  readonly instance: string
  readonly clock: Clock
  readonly settings: ClusterBuilderSettings
  /** Reads a Docker configuration with credentials for the image of the builder. */
  readonly pullConfig: () => Promise<string | undefined>
}

/** The time in which a builder has to be ready: its image may have to be fetched. */
const startMs = 300_000

/**
 * Connects to the builder of a cluster, which is created or changed first. Removing the cluster's
 * namespaces removes it. Throws EngineError.
 */
export const openBuilder = (options: BuilderPodOptions, attempt: Attempt): Promise<Duplex> =>
  asEngineErrors(async () => {
    await ensureBuilder(options, attempt.signal)
    const pod = await untilReady(options, attempt)
    const place = { namespace: pod.namespace, pod: pod.name, container: mainContainer }
    const command = ['buildctl', 'dial-stdio']
    const wish = { hasTerminal: false, hasInput: true }
    return execStream(await options.kube.exec(place, command, wish, attempt.signal))
  })

async function ensureBuilder(
  { kube, instance, settings, pullConfig }: BuilderPodOptions,
  signal: AbortSignal,
): Promise<void> {
  const setting = { ...settings, instance, pullConfig: await pullConfig() }
  await applyOwn({ kube, instance }, builderNamespace(instance), signal)
  const claim = builderClaim(setting)
  const found = await kube.get(kinds.volumeClaim, claim.metadata, signal)
  refuseForeign(instance, found)
  if (!found) {
    await kube.create(claim, signal).catch((error: unknown) => {
      // Another build created it at the same time.
      if (!isKubeError(error, 409)) throw error
    })
  }
  for (const object of builderObjects(setting)) await applyOwn({ kube, instance }, object, signal)
}

async function untilReady(
  { kube, instance, clock, settings }: BuilderPodOptions,
  { signal, output }: Attempt,
): Promise<PodState> {
  const namespace = builderNamespaceName(instance)
  const selection = { namespace, labels: builderLabels(instance) }
  const deadline = startDeadline(startMs, signal)
  let reason = 'its pod was not created'
  let isSaid = false
  try {
    for await (const pods of followObjects(
      { kube, clock },
      { kind: kinds.pod, selection, reduce: toPodState },
      deadline.signal,
    )) {
      const own = [...pods.values()].filter(({ isLeaving, image }) => !isLeaving && image === settings.image)
      const ready = own.find((pod) => pod.running && pod.isReady)
      if (ready) return ready
      const waiting = own[0]?.waiting
      const final = waiting && finalReason(waiting, settings.image)
      if (final) throw new EngineError('refused', `${final.message} (QUAYSIDE_CLUSTER_BUILDER_IMAGE)`)
      reason = waiting ? explainWaiting(waiting) : own[0] ? 'it is not ready' : reason
      if (!isSaid) output.line('Waiting for the builder of the cluster to start.')
      isSaid = true
    }
    throw new Error('a watch ended without its signal')
  } catch (error) {
    if (!deadline.isOver || signal.aborted) throw error
    throw new EngineError(
      'unreachable',
      `the builder of the cluster did not start within ${startMs / 1000} s: ${reason}; look at ` +
        `"kubectl -n ${namespace} describe pods"`,
      { cause: error },
    )
  }
}
