import { startDeadline } from '../../lib/deadline.ts'
import { everyOne } from '../../lib/every-one.ts'
import { EngineError } from '../engine.ts'
import { type Deployment, kinds, type Pod } from './client/index.ts'
import { pauseEventScaling } from './event-scaler.ts'
import { followObjects, keyOf } from './follow-objects.ts'
import type { KubeHost } from './host.ts'
import { annotation, label, ownLabels } from './labels.ts'
import { type Claim, usersOf, uses } from './volume-claims.ts'

/** How long a copy waits until the replicas of a service are back. Then it returns. */
const backMs = 60_000
/** After this time a copy looks again who has given replicas back that it waits for. */
const lookMs = 5000

/** The Deployments whose replicas this process keeps away. */
export class HeldDeployments {
  readonly #held = new Map<string, number>()

  has = (deployment: Deployment): boolean => this.#held.has(keyOf(deployment))

  /** Counts the copies that hold a Deployment. */
  add(deployment: Deployment): void {
    const key = keyOf(deployment)
    this.#held.set(key, (this.#held.get(key) ?? 0) + 1)
  }

  /** Returns whether no other copy holds it. */
  leave(deployment: Deployment): boolean {
    const key = keyOf(deployment)
    const others = (this.#held.get(key) ?? 1) - 1
    if (others === 0) this.#held.delete(key)
    else this.#held.set(key, others)
    return others === 0
  }
}

/**
 * Ends the replicas of all releases that use one of the claims, and waits until they are gone. Adds
 * their Deployments to `away`, also if a killed process has left them without replicas. Replicas
 * that come back meanwhile, such as by a repair, are ended as well. Throws EngineError('refused')
 * if something else uses a claim.
 */
export async function sendAway(
  host: KubeHost,
  held: HeldDeployments,
  claims: readonly Claim[],
  away: Deployment[],
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const users = (await everyOne(claims.map((claim) => deploymentsOf(host, claim, signal)))).flat()
    const deployments = [...new Map(users.map((one) => [keyOf(one), one])).values()]
    const known = new Set(away.map(keyOf))
    for (const deployment of deployments.filter((one) => !known.has(keyOf(one)))) {
      held.add(deployment)
      away.push(deployment)
    }
    await everyOne(deployments.filter(hasReplicas).map((deployment) => scaleDown(host, deployment, signal)))
    const unused = await everyOne(claims.map((claim) => untilUnused(host, claim, signal)))
    if (!unused.includes(false)) return
  }
}

const hasReplicas = ({ spec }: Deployment): boolean => (spec.replicas ?? 1) > 0

/** Returns our Deployments that use a claim: with replicas, or without them for a copy. */
async function deploymentsOf({ kube, instance }: KubeHost, { namespace, name }: Claim, signal: AbortSignal) {
  const { items } = await kube.list(kinds.deployment, { namespace, labels: ownLabels(instance) }, signal)
  return items.filter(
    (one) =>
      (hasReplicas(one) || one.metadata.labels?.[label.held] !== undefined) &&
      one.spec.template !== undefined &&
      uses(one.spec.template, name),
  )
}

async function scaleDown(host: KubeHost, { metadata, spec }: Deployment, signal: AbortSignal): Promise<void> {
  const { kube } = host
  await pauseEventScaling(host, releaseOf({ metadata }), true, signal)
  const annotations = { [annotation.heldReplicas]: String(spec.replicas ?? 1) }
  const change = { metadata: { labels: { [label.held]: 'true' }, annotations }, spec: { replicas: 0 } }
  await kube.patch(kinds.deployment, metadata, change, signal)
}

/** The objects that have the name of a Deployment: those of its release. */
const releaseOf = ({ metadata: { namespace, name } }: Pick<Deployment, 'metadata'>) => ({
  namespace,
  fields: `metadata.name=${name}`,
})

/** Waits until no pod of ours uses a claim, but not for long. Returns whether none does. */
async function untilUnused(host: KubeHost, claim: Claim, signal: AbortSignal): Promise<boolean> {
  const { instance } = host
  const foreign = (await usersOf(host, claim, signal)).find(
    ({ metadata }) => metadata.labels?.[label.instance] !== instance,
  )
  if (foreign) {
    const message = `the volume ${claim.name} is in use by the pod ${foreign.metadata.name} of somebody else; end it`
    throw new EngineError('refused', message)
  }
  const reduce = (pod: Pod): boolean => pod.metadata.labels?.[label.helper] === undefined && uses(pod, claim.name)
  const selection = { namespace: claim.namespace, labels: ownLabels(instance) }
  const look = startDeadline(lookMs, signal)
  try {
    for await (const pods of followObjects(host, { kind: kinds.pod, selection, reduce }, look.signal)) {
      if (![...pods.values()].includes(true)) return true
    }
  } catch (error) {
    if (!look.isOver || signal.aborted) throw error
  }
  return false
}

/** Whether nothing has used the claims since their users were sent away. */
export async function areUnused(host: KubeHost, claims: readonly Claim[], signal: AbortSignal): Promise<boolean> {
  const users = await everyOne(
    claims.map(async (claim) => [
      ...(await usersOf(host, claim, signal)),
      ...(await deploymentsOf(host, claim, signal)).filter(hasReplicas),
    ]),
  )
  return users.flat().length === 0
}

/** Gives Deployments their replicas back, and waits until they run, but not for long. */
export async function bringBack(
  host: KubeHost,
  held: HeldDeployments,
  deployments: readonly Deployment[],
  signal: AbortSignal,
): Promise<void> {
  const free = deployments.filter((deployment) => held.leave(deployment))
  await everyOne(free.map((deployment) => scaleUp(host, deployment, signal)))
  await everyOne(free.map((deployment) => untilBack(host, deployment, signal)))
}

/** Deployments that were changed or deleted meanwhile are left as they are. */
async function scaleUp(host: KubeHost, { metadata }: Deployment, signal: AbortSignal): Promise<boolean> {
  const { kube } = host
  const now = await kube.get(kinds.deployment, metadata, signal)
  const replicas = Number(now?.metadata.annotations?.[annotation.heldReplicas])
  if (!now || now.metadata.labels?.[label.held] === undefined) return false
  const isStill = now.spec.replicas === 0 && Number.isInteger(replicas)
  const change = {
    metadata: { labels: { [label.held]: null }, annotations: { [annotation.heldReplicas]: null } },
    ...(isStill && { spec: { replicas } }),
  }
  await kube.patch(kinds.deployment, metadata, change, signal)
  await pauseEventScaling(host, releaseOf(now), false, signal)
  return true
}

async function untilBack(host: KubeHost, { metadata }: Deployment, signal: AbortSignal): Promise<void> {
  const { namespace, name } = metadata
  const deadline = startDeadline(backMs, signal)
  const isBack = ({ spec, status }: Deployment): boolean => (status?.availableReplicas ?? 0) >= (spec.replicas ?? 1)
  const wish = { kind: kinds.deployment, selection: { namespace, fields: `metadata.name=${name}` }, reduce: isBack }
  try {
    for await (const found of followObjects(host, wish, deadline.signal))
      if (![...found.values()].includes(false)) return
  } catch (error) {
    if (!deadline.isOver) throw error
  }
}

/** Engine.resume for Kubernetes: gives replicas back that no copy of this process keeps away. */
export async function resumeHeld(host: KubeHost, held: HeldDeployments, signal: AbortSignal): Promise<string[]> {
  const { kube, instance } = host
  const selection = { labels: ownLabels(instance, { [label.held]: 'true' }) }
  const { items } = await kube.list(kinds.deployment, selection, signal)
  const left = items.filter((deployment) => !held.has(deployment))
  const resumed = await everyOne(left.map((deployment) => scaleUp(host, deployment, signal)))
  return left.filter((_, index) => resumed[index]).map(({ metadata }) => metadata.name)
}
