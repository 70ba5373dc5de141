import { messageOf } from '../../lib/error.ts'
import { said } from './certificate-objects.ts'
import type { TlsPair } from './judge-certificate.ts'
import { type KubeObjects, routeKinds, statusOf } from './kube-objects.ts'
import type { PairReader } from './pair-reader.ts'

/** A certificate that an administrator has stored on the cluster, or why it cannot be used. */
export type GivenPair = (TlsPair & { readonly source: string }) | { readonly problem: string }

/** Reads the Secret with a certificate that an administrator of the cluster has named. */
export async function findGivenPair(
  { kube, reader }: { readonly kube: KubeObjects; readonly reader: PairReader },
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<GivenPair> {
  const where = `the Secret ${name} in the namespace ${namespace}`
  try {
    const secret = await kube.get(routeKinds.secret, { namespace, name }, signal)
    if (!secret) return { problem: `${where} does not exist` }
    const read = reader.read(secret)
    if ('problem' in read) return { problem: `${where} cannot be used: ${read.problem}` }
    return { ...read, source: `given ${name}` }
  } catch (error) {
    if (statusOf(error) !== 403) throw error
    return { problem: `the user of the cluster may not read ${where}: ${said(messageOf(error))}` }
  }
}
