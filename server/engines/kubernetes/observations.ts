import { parseId } from '../../lib/id.ts'
import type { Observation } from '../engine.ts'
import { ChartObjects } from './charts/chart-objects.ts'
import { toChartObservation } from './charts/observe-chart.ts'
import { type Deployment, kinds, type Node, type Pod } from './client/index.ts'
import { DriftWatch } from './drift-watch.ts'
import type { KubeHost } from './host.ts'
import { Informer } from './informer.ts'
import { label, ownLabels } from './labels.ts'
import { toNode } from './machines.ts'
import { toObservation } from './observe.ts'
import { type DeploymentState, type PodState, toDeploymentState, toPodState } from './pod-state.ts'

/** A young program that keeps exiting is failing until it has run for a while, so states age. */
const refreshMs = 10_000

/**
 * Observes services: one of them by asking the cluster, all of them by what the cluster reports.
 */
export class Observations {
  readonly #host: KubeHost
  readonly #pods: Informer<Pod, PodState>
  readonly #deployments: Informer<Deployment, DeploymentState>
  readonly #charts: ChartObjects
  readonly #nodes: Informer<Node, Node>
  readonly #drift: DriftWatch
  #seen: ReadonlyMap<string, Observation> = new Map()
  #version = -1
  #atMs = Number.NEGATIVE_INFINITY

  constructor(host: KubeHost) {
    this.#host = host
    const selection = { labels: ownLabels(host.instance) }
    this.#pods = new Informer({ ...host, kind: kinds.pod, selection, reduce: toPodState })
    this.#deployments = new Informer({ ...host, kind: kinds.deployment, selection, reduce: toDeploymentState })
    this.#charts = new ChartObjects(host)
    this.#nodes = new Informer({ ...host, kind: kinds.node, selection: {}, reduce: toNode })
    this.#drift = new DriftWatch(host)
  }

  /** Called when a start has ended: everything of the service is as it was applied. */
  started(service: string): void {
    this.#drift.started(service)
  }

  /** Routes lead nowhere else than to addresses to which a router may connect. */
  #withoutRefused(seen: Observation): Observation {
    if (seen.state === 'absent') return seen
    const { mayConnect } = this.#host
    const replicas = seen.replicas.map(({ pod, ...replica }) => ({
      ...replica,
      endpoints: replica.endpoints.filter(({ address }) => mayConnect(address)),
      ...(pod && { pod: pod.address !== undefined && mayConnect(pod.address) ? pod : { ...pod, address: undefined } }),
    }))
    return { ...seen, replicas }
  }

  async one(service: string, signal: AbortSignal): Promise<Observation> {
    const { kube, instance, clock } = this.#host
    const selection = { labels: ownLabels(instance, { [label.service]: service }) }
    const [deployments, pods] = await Promise.all([
      kube.list(kinds.deployment, selection, signal),
      kube.list(kinds.pod, selection, signal),
    ])
    const states = pods.items.map(toPodState)
    const isOther = deployments.items.length > 0 || states.some((pod) => !pod.isOfChart)
    const parts = isOther ? [] : await this.#charts.one(service, signal)
    const seen =
      parts.length > 0 || states.some(isOfChart)
        ? toChartObservation(states, parts, clock.now())
        : toObservation(deployments.items.map(toDeploymentState), states, clock.now())
    return this.#withoutRefused(seen)
  }

  /** Returns the same map again if nothing has happened since. */
  async all(signal: AbortSignal): Promise<ReadonlyMap<string, Observation>> {
    const { clock } = this.#host
    const [deployments, pods, parts] = await Promise.all([
      this.#deployments.objects(signal),
      this.#pods.objects(signal),
      this.#charts.all(signal),
    ])
    const changed = await this.#drift.find(deployments, signal)
    const version = this.#deployments.version + this.#pods.version + this.#charts.version + this.#drift.version
    const isAged = clock.monotonic() - this.#atMs > refreshMs
    if (version === this.#version && !isAged) return this.#seen
    const podsOf = Map.groupBy(pods.values(), ({ service }) => service)
    // The platform's own routers belong to no service, and anybody may write labels by hand.
    const own = [...deployments.values()].filter(({ service }) => parseId(service) !== undefined)
    const byService = Map.groupBy(own, ({ service }) => service)
    const now = clock.now()
    const withPods = [...podsOf].filter(([service, own]) => parseId(service) !== undefined && own.some(isOfChart))
    const charts = new Set([...parts.keys(), ...withPods.map(([service]) => service)])
    this.#seen = new Map([
      ...[...byService].map(([service, states]): [string, Observation] => {
        const seen = toObservation(states, podsOf.get(service) ?? [], now, changed)
        return [service, this.#withoutRefused(seen)]
      }),
      ...[...charts].map((service): [string, Observation] => {
        const seen = toChartObservation(podsOf.get(service) ?? [], parts.get(service) ?? [], now)
        return [service, this.#withoutRefused(seen)]
      }),
    ])
    this.#version = version
    this.#atMs = clock.monotonic()
    return this.#seen
  }

  async nodes(signal: AbortSignal): Promise<readonly Node[]> {
    return [...(await this.#nodes.objects(signal)).values()]
  }

  close(): void {
    this.#drift.close()
    this.#nodes.close()
    this.#charts.close()
    this.#pods.close()
    this.#deployments.close()
  }
}

const isOfChart = (pod: PodState): boolean => pod.isOfChart
