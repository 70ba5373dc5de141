import { messageOf } from '../../lib/error.ts'
import { said } from './certificate-objects.ts'
import { type KubeObject, type KubeObjects, statusOf, tlsKinds } from './kube-objects.ts'
import type { Controller } from './rule-mapping.ts'

export const noCertManager =
  'the cluster has no cert-manager; its administrator can install it: helm install cert-manager cert-manager ' +
  '--repo https://charts.jetstack.io -n cert-manager --create-namespace --set crds.enabled=true'

/** Returns why an issuer makes no certificates, as the end of a sentence. Undefined if it does. */
export async function findIssuerProblem(
  kube: KubeObjects,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const found = await readIssuer(kube, name, signal)
  return typeof found === 'string' ? found : judgeIssuer(name, found)
}

/** Reads a ClusterIssuer. Returns the reason if the cluster does not show it. */
export async function readIssuer(
  kube: KubeObjects,
  name: string,
  signal: AbortSignal,
): Promise<KubeObject | string | undefined> {
  try {
    return await kube.get(tlsKinds.clusterIssuer, { name }, signal)
  } catch (error) {
    if (!statusOf(error)) throw error
    return `the cluster did not show the ClusterIssuer ${name}: ${said(messageOf(error))}`
  }
}

/** Returns why an issuer makes no certificates, as the end of a sentence. Pure. */
export function judgeIssuer(name: string, issuer: KubeObject | undefined): string | undefined {
  if (!issuer) return `the cluster has no ClusterIssuer ${name}; compare: kubectl get clusterissuers`
  const ready = listOf(Object(Object(issuer).status).conditions).find((one) => one['type'] === 'Ready')
  if (ready?.['status'] === 'True') return undefined
  const reason = ready ? said(ready['message']) : 'cert-manager has not looked at it; look at the pods of cert-manager'
  return `the ClusterIssuer ${name} is not ready: ${reason}`
}

const priority = 'traefik.ingress.kubernetes.io/router.priority'
/** Higher than the priority of every route. */
const solverPriority = 100_000

/**
 * Returns why the controller would keep the proofs of an issuer from arriving. Routes of the
 * platform have priorities in Traefik, and would get the requests of a proof by HTTP. Pure.
 */
export function solverProblem(name: string, issuer: KubeObject, controller: Controller): string | undefined {
  if (controller !== 'traefik') return undefined
  const solvers = listOf(Object(Object(Object(issuer).spec).acme).solvers)
  const index = solvers.findIndex(({ http01 }) => {
    const { ingress } = Object(http01)
    if (ingress === undefined) return false
    const annotations = Object(Object(Object(Object(ingress).ingressTemplate).metadata).annotations)
    return !(Number(annotations[priority]) >= solverPriority)
  })
  if (index === -1) return undefined
  const value = JSON.stringify({ metadata: { annotations: { [priority]: String(solverPriority) } } })
  const path = `/spec/acme/solvers/${index}/http01/ingress/ingressTemplate`
  const patch = `[{"op":"add","path":"${path}","value":${value}}]`
  return (
    `Routes of services come before the proofs by HTTP of the ClusterIssuer ${name}, so it makes no certificates ` +
    `for hosts that have a route. Give its proofs a priority: ` +
    `kubectl patch clusterissuer ${name} --type=json -p '${patch}'`
  )
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map((one: unknown) => Object(one)) : []
}
