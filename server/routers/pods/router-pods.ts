import { printable } from '../../lib/text.ts'
import type { KubeObject } from '../ingress/kube-objects.ts'
import { type PodKube, podKinds } from './pod-kube.ts'
import { PodLink } from './pod-link.ts'
import { controlPort } from './router-objects.ts'

/** One router of a cluster. */
export interface RouterPod {
  readonly uid: string
  readonly name: string
  readonly link: PodLink
  /** Whether it gets new requests. */
  isReady: boolean
  /** Whether it was asked to end. It finishes its requests. */
  isLeaving: boolean
  /** The version of the last table that it accepted. */
  version: number
  /** Since when it cannot be reached, in monotonic milliseconds. */
  lostSince: number | undefined
}

/** The members of a pod that the router reads. */
interface PodObject extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly uid?: string; readonly deletionTimestamp?: string }
  readonly status?: {
    readonly phase?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[]
    readonly containerStatuses?: readonly {
      readonly state?: { readonly waiting?: { readonly reason?: string; readonly message?: string } }
    }[]
  }
}

/** More pods than any operator asks for. Others are not ours. */
const mostPods = 100

/** The routers of a cluster, and the connections to them. */
export class RouterPods {
  readonly #kube: PodKube
  readonly #selection: { readonly namespace: string; readonly labels: Readonly<Record<string, string>> }
  readonly #key: () => Promise<string>
  readonly #known = new Map<string, RouterPod>()

  constructor(
    kube: PodKube,
    selection: { readonly namespace: string; readonly labels: Readonly<Record<string, string>> },
    key: () => Promise<string>,
  ) {
    this.#kube = kube
    this.#selection = selection
    this.#key = key
  }

  /** Returns the routers whose programs run, also those that leave. */
  async running(signal: AbortSignal): Promise<readonly RouterPod[]> {
    const found = (await this.#list(signal)).filter(({ status }) => status?.phase === 'Running')
    const uids = new Set(found.map(uidOf))
    for (const [uid, { link }] of this.#known) {
      if (uids.has(uid)) continue
      link.close()
      this.#known.delete(uid)
    }
    return found.map((pod) => this.#renew(pod))
  }

  /** Returns why no router runs, as the end of a sentence. */
  async whyNone(signal: AbortSignal): Promise<string> {
    const [first] = await this.#list(signal)
    if (!first) return 'it was not created yet'
    const waiting = first.status?.containerStatuses?.find(({ state }) => state?.waiting)?.state?.waiting
    const unscheduled = first.status?.conditions?.find(
      ({ type, status }) => type === 'PodScheduled' && status === 'False',
    )
    const reason = waiting ? `${waiting.reason} ${waiting.message ?? ''}`.trim() : unscheduled?.message
    return printable(`pod ${first.metadata.name} waits${reason === undefined ? '' : `: ${reason.slice(0, 500)}`}`)
  }

  /** Has Kubernetes replace a router. */
  async remove({ name }: RouterPod, signal: AbortSignal): Promise<void> {
    await this.#kube.remove(podKinds.pod, { namespace: this.#selection.namespace, name }, signal)
  }

  async #list(signal: AbortSignal): Promise<readonly PodObject[]> {
    const { items } = await this.#kube.list(podKinds.pod, this.#selection, signal)
    // The objects of this path are pods.
    return (items as readonly PodObject[]).slice(0, mostPods)
  }

  #renew(pod: PodObject): RouterPod {
    const uid = uidOf(pod)
    const { name, deletionTimestamp } = pod.metadata
    const isReady = pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
    const isLeaving = deletionTimestamp !== undefined
    const known = this.#known.get(uid)
    if (known) return Object.assign(known, { isReady, isLeaving })
    const { namespace } = this.#selection
    const connect = (signal: AbortSignal) => this.#kube.portForward({ namespace, pod: name }, controlPort, signal)
    const link = new PodLink(name, connect, this.#key)
    const fresh: RouterPod = { uid, name, link, isReady, isLeaving, version: 0, lostSince: undefined }
    this.#known.set(uid, fresh)
    return fresh
  }
}

const uidOf = ({ metadata }: PodObject): string => metadata.uid ?? metadata.name
