import type { Attempt } from '../../lib/attempt.ts'
import { startDeadline } from '../../lib/deadline.ts'
import { EngineError } from '../engine.ts'
import { type ContainerPlace, type KubeObject, kinds, type Pod } from './client/index.ts'
import { ensureEnvironment } from './environments.ts'
import { followObjects } from './follow-objects.ts'
import type { KubeHost } from './host.ts'
import { label, ownLabels } from './labels.ts'
import { refuseForeign } from './own-objects.ts'
import { toPodState } from './pod-state.ts'
import { mainContainer, podSettings } from './program.ts'
import { wait } from './task-files.ts'
import type { Claim } from './volume-claims.ts'
import { explainWaiting, finalReason } from './waiting.ts'

/** Where a helper mounts a volume. Paths in archives begin with the last part. */
export const helperPlace = { above: '/mnt', name: 'volume' } as const
/** A volume that was never mounted may have to be created first. */
const startMs = 180_000
/** The longest time that one volume is read or written. */
const longestSeconds = 24 * 3600

/** What a helper does with its volume. */
export type Purpose = 'read' | 'write'

interface HelperSetting {
  readonly instance: string
  readonly pullSecret: string | undefined
  readonly helperImage: string
}

/**
 * Returns a pod that mounts one volume and waits. Commands in it read or write the volume. It may
 * do with files what their owners may, and nothing else. Pure.
 */
export function helperPod({ namespace, name }: Claim, purpose: Purpose, setting: HelperSetting): KubeObject {
  const limits = { cpu: '1', memory: '128Mi' }
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: helperName(name, purpose),
      namespace,
      labels: ownLabels(setting.instance, { [label.helper]: purpose }),
    },
    spec: {
      ...podSettings(setting.pullSecret),
      restartPolicy: 'Never',
      activeDeadlineSeconds: longestSeconds,
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: mainContainer,
          image: setting.helperImage,
          imagePullPolicy: 'IfNotPresent',
          command: ['sh', '-c', wait.replaceAll('$', '$$$$')],
          resources: { limits, requests: { cpu: '10m', memory: '32Mi' } },
          volumeMounts: [
            {
              name,
              mountPath: `${helperPlace.above}/${helperPlace.name}`,
              ...(purpose === 'read' && { readOnly: true }),
            },
          ],
          securityContext: {
            runAsUser: 0,
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'], add: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID'] },
            seccompProfile: { type: 'RuntimeDefault' },
            readOnlyRootFilesystem: true,
          },
        },
      ],
      volumes: [{ name, persistentVolumeClaim: { claimName: name } }],
    },
  }
  return pod
}

const helperName = (claim: string, purpose: Purpose): string => `${purpose}-${claim}`

/**
 * Runs work with a helper of a claim, and removes the helper after it. One that an earlier process
 * left is replaced.
 */
export async function withHelper<T>(
  host: KubeHost,
  { claim, purpose }: { readonly claim: Claim; readonly purpose: Purpose },
  { signal }: Pick<Attempt, 'signal'>,
  work: (place: ContainerPlace) => Promise<T>,
): Promise<T> {
  const { kube } = host
  const place = { namespace: claim.namespace, name: helperName(claim.name, purpose) }
  const setting = await ensureEnvironment(host, claim.environment, signal)
  await removeHelper(host, place, signal)
  try {
    await kube.create(helperPod(claim, purpose, setting), signal)
    await untilRuns(host, place, signal)
    return await work({ namespace: place.namespace, pod: place.name, container: mainContainer })
  } finally {
    await removeHelper(host, place, AbortSignal.timeout(60_000))
  }
}

async function untilRuns(
  host: KubeHost,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<void> {
  const deadline = startDeadline(startMs, signal)
  let reason = 'it was not created'
  const wish = { kind: kinds.pod, selection: { namespace, fields: `metadata.name=${name}` }, reduce: toPodState }
  try {
    for await (const pods of followObjects(host, wish, deadline.signal)) {
      const [pod] = pods.values()
      if (pod?.running) return
      if (!pod?.waiting) continue
      const final = finalReason(pod.waiting, host.helperImage)
      if (final) throw new EngineError('refused', `${final.message} (QUAYSIDE_CLUSTER_TOOLS_IMAGE)`)
      reason = explainWaiting(pod.waiting)
    }
  } catch (error) {
    if (!deadline.isOver || signal.aborted) throw error
    const message = `the pod ${name} that reads or writes a volume did not start within ${startMs / 1000} s: ${reason}`
    throw new EngineError('refused', message, { cause: error })
  }
}

/** Removes a helper and waits until it is gone, because it keeps its claim. */
async function removeHelper(
  host: KubeHost,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<void> {
  const found = await host.kube.get(kinds.pod, { namespace, name }, signal)
  if (!found) return
  refuseForeign(host.instance, found)
  await host.kube.remove(kinds.pod, found.metadata, signal, { graceSeconds: 0, uid: found.metadata.uid })
  const wish = { kind: kinds.pod, selection: { namespace, fields: `metadata.name=${name}` }, reduce: (_: Pod) => true }
  for await (const left of followObjects(host, wish, signal)) if (left.size === 0) return
}
