import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/error.ts'
import { everyOne } from '../../lib/every-one.ts'
import { createSlots } from '../../lib/slots.ts'
import { ensureNamespace, named } from './apply-objects.ts'
import {
  type CertificateSetting,
  certificateOf,
  type FoundCertificate,
  issuedSecretName,
  judgeConditions,
  said,
} from './certificate-objects.ts'
import { keyOf } from './ingress-objects.ts'
import { findIssuerProblem, noCertManager } from './issuer.ts'
import { judgePair } from './judge-certificate.ts'
import { type KubeObject, type KubeObjects, routeKinds, statusOf, tlsKinds } from './kube-objects.ts'
import type { PairReader } from './pair-reader.ts'
import { type Applied, planChanges, textOf } from './plan-changes.ts'

export interface IssuedCertificatesOptions {
  readonly kube: KubeObjects
  readonly clock: Clock
  readonly setting: CertificateSetting
  readonly reader: PairReader
}

/** The Certificates on a cluster, as far as they are known, and why none can be made. */
interface Present {
  readonly certificates: readonly KubeObject[]
  readonly isKnown: boolean
  readonly problem?: string
}

/** Requests to the API server at the same time. */
const atOnce = 8

/**
 * The certificates that cert-manager makes for one cluster. Their objects are in the namespace of
 * the router, so that a service that stops or moves keeps its certificate.
 */
export class IssuedCertificates {
  readonly #options: IssuedCertificatesOptions
  readonly #applied = new Map<string, Applied>()
  /** Whether the cluster has no object of this kind. A process knows nothing before its start. */
  #isClean = false

  constructor(options: IssuedCertificatesOptions) {
    this.#options = options
  }

  /** Applies the objects of these hosts and issuers. Returns the certificate of each. */
  async follow(
    hosts: ReadonlyMap<string, string>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, FoundCertificate>> {
    if (hosts.size === 0 && this.#isClean) return new Map()
    const { kube, setting } = this.#options
    const present = await this.#listCertificates(signal)
    const desired = new Map([...hosts].map(([host, issuer]) => [host, certificateOf(host, issuer, setting)]))
    const problems =
      present.problem === undefined
        ? await this.#change(present.certificates, [...desired.values()], signal)
        : new Map([...desired.values()].map((object) => [keyOf(object), present.problem]))
    // A certificate that is there serves its host, also while cert-manager is away.
    const secrets = await this.#listSecrets(signal)
    if (present.isKnown) await this.#forget(secrets, [...present.certificates, ...desired.values()], signal)
    this.#isClean = hosts.size === 0 && present.certificates.length + secrets.length === 0
    const byName = (objects: readonly KubeObject[]) => new Map(objects.map((one) => [one.metadata.name, one]))
    const [certificates, filled] = [byName(present.certificates), byName(secrets)]
    const issuers = new Map<string, Promise<string | undefined>>()
    const explain = async (issuer: string, object: KubeObject): Promise<FoundCertificate> => {
      const asked = issuers.get(issuer) ?? findIssuerProblem(kube, issuer, signal)
      issuers.set(issuer, asked)
      const problem = problems.get(keyOf(object)) ?? (await asked)
      return problem === undefined
        ? judgeConditions(certificates.get(object.metadata.name))
        : { state: 'FAILED', message: problem }
    }
    const found = [...desired].map(async ([host, object]) => {
      const usable = this.#usable(host, filled.get(issuedSecretName(host)))
      return [host, usable ?? (await explain(hosts.get(host) ?? '', object))] as const
    })
    return new Map(await everyOne(found))
  }

  /** Returns the certificate that a Secret has for a host. Undefined if it has none. */
  #usable(host: string, secret: KubeObject | undefined): FoundCertificate | undefined {
    const pair = secret && this.#options.reader.read(secret)
    if (!pair || 'problem' in pair) return undefined
    const judged = judgePair(pair, host, this.#options.clock.now())
    return judged.state === 'FAILED' ? undefined : { ...judged, pair: { ...pair, source: `issued ${host}` } }
  }

  /** A kind that is being installed or removed answers with errors of its own. */
  async #listCertificates(signal: AbortSignal): Promise<Present> {
    const { kube, setting } = this.#options
    try {
      const { items } = await kube.list(tlsKinds.certificate, { labels: setting.labels }, signal)
      return { certificates: items.map(named(tlsKinds.certificate)), isKnown: true }
    } catch (error) {
      if (statusOf(error) === 404) return { certificates: [], isKnown: true, problem: noCertManager }
      if (!statusOf(error)) throw error
      const problem = `the cluster did not list its Certificates: ${said(messageOf(error))}`
      return { certificates: [], isKnown: false, problem }
    }
  }

  /** Secrets elsewhere may have the labels of ours. */
  async #listSecrets(signal: AbortSignal): Promise<readonly KubeObject[]> {
    const { kube, setting } = this.#options
    const { items } = await kube.list(routeKinds.secret, { labels: setting.issuedLabels }, signal)
    return items.filter(({ metadata }) => metadata.namespace === setting.idleNamespace)
  }

  /**
   * Applies and removes Certificates. Returns why some were refused, by their keys. A program that
   * checks them may be away, which keeps no other route from changing.
   */
  async #change(
    present: readonly KubeObject[],
    desired: readonly KubeObject[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>> {
    const { kube } = this.#options
    const { apply, remove } = planChanges(present, desired, this.#applied, true)
    if (desired.length > 0) await ensureNamespace(kube, this.#options.setting, signal)
    const problems = new Map<string, string>()
    const slots = createSlots(atOnce)
    const each = (objects: readonly KubeObject[], change: (object: KubeObject) => Promise<void>) =>
      everyOne(
        objects.map((object) =>
          slots.run(signal, async () => {
            this.#applied.delete(keyOf(object))
            try {
              await change(object)
            } catch (error) {
              if (!statusOf(error)) throw error
              problems.set(keyOf(object), `the cluster refuses its Certificate: ${said(messageOf(error))}`)
            }
          }),
        ),
      )
    await each(apply, async (object) => {
      const { metadata } = await kube.apply(object, signal)
      this.#applied.set(keyOf(object), { text: textOf(object), version: metadata.resourceVersion })
    })
    await each(remove, async ({ metadata }) => void (await kube.remove(tlsKinds.certificate, metadata, signal)))
    return problems
  }

  /** Removes Secrets whose Certificate is gone. cert-manager keeps them. */
  async #forget(secrets: readonly KubeObject[], certificates: readonly KubeObject[], signal: AbortSignal) {
    const needed = new Set(certificates.map((one) => String(Object(Object(one).spec).secretName)))
    for (const { metadata } of secrets) {
      if (!needed.has(metadata.name)) await this.#options.kube.remove(routeKinds.secret, metadata, signal)
    }
  }
}
