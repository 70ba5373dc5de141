import type { ClusterTls } from '@quayside/contract/routes.ts'
import type { Clock } from '../../lib/clock.ts'
import type { RouterFinding } from '../router.ts'
import { findObjects } from './apply-objects.ts'
import type { CertificateSetting } from './certificate-objects.ts'
import { findGivenPair } from './given-pair.ts'
import type { IngressClass } from './ingress-class.ts'
import { judgeIssuer, noCertManager, readIssuer, solverProblem } from './issuer.ts'
import { judgePair } from './judge-certificate.ts'
import { type KubeObjects, statusOf, tlsKinds } from './kube-objects.ts'
import { PairReader } from './pair-reader.ts'

export interface TlsFindingOptions extends Pick<IngressClass, 'controller'> {
  readonly kube: KubeObjects
  readonly clock: Clock
  readonly setting: CertificateSetting
}

/** Lists what a cluster lacks for the certificates that its settings name. */
export async function findTlsProblems(
  options: TlsFindingOptions,
  tls: ClusterTls,
  signal: AbortSignal,
): Promise<readonly RouterFinding[]> {
  const { secret, issuer } = tls
  const lists = await Promise.all([
    secret === null ? [] : givenProblems(options, { ...tls, secret }, signal),
    issuer === null ? [] : issuerProblems(options, issuer, signal),
    redirectProblems(options, signal),
  ])
  return lists.flat().map((message) => ({ message, isBlocking: false }))
}

async function givenProblems(
  { kube, clock, setting }: TlsFindingOptions,
  { secret: name, domain }: { readonly secret: string; readonly domain: string },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const namespace = setting.givenNamespace
  const pair = await findGivenPair({ kube, reader: new PairReader() }, { namespace, name }, signal)
  const judged = 'problem' in pair ? { message: pair.problem } : judgePair(pair, `*.${domain}`, clock.now())
  if (judged.message === null) return []
  const store =
    `kubectl create namespace ${namespace}; ` +
    `kubectl -n ${namespace} create secret tls ${name} --cert=FILE --key=FILE`
  return [`Names of ${domain} have no valid certificate: ${judged.message}. Store one for *.${domain}: ${store}`]
}

async function issuerProblems(
  { kube, setting, controller }: TlsFindingOptions,
  name: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    await kube.list(tlsKinds.certificate, { labels: setting.labels }, signal)
  } catch (error) {
    if (statusOf(error) === 404) return [`No certificates are made, because ${noCertManager}`]
    // The engine of the cluster reports rights that are missing.
    if (statusOf(error) === 403) return []
    throw error
  }
  const issuer = await readIssuer(kube, name, signal)
  if (typeof issuer === 'string') return [`Nobody knows whether certificates are made, because ${issuer}`]
  const problem = judgeIssuer(name, issuer)
  const solver = issuer && solverProblem(name, issuer, controller)
  return [
    ...(problem === undefined ? [] : [`No certificates are made, because ${problem}`]),
    ...(solver === undefined ? [] : [solver]),
  ]
}

const noMiddleware =
  'Plain HTTP is not redirected, because the cluster lacks the kind Middleware of Traefik. ' + 'Install its definitions'

async function redirectProblems(options: TlsFindingOptions, signal: AbortSignal): Promise<readonly string[]> {
  if (options.controller === 'other') {
    return ['The controller of its ingress class decides whether plain HTTP is redirected, because it is not Traefik']
  }
  const { hasTraefikKinds } = await findObjects(options.kube, { ...options.setting, controller: 'traefik' }, signal)
  return hasTraefikKinds ? [] : [noMiddleware]
}
