import { type ChartPlace, EngineError, type RenderedObject } from '../../engine.ts'
import { kinds } from '../client/index.ts'
import type { KubeHost } from '../host.ts'
import { label, manager } from '../labels.ts'
import { chartLabels, helmRelease } from './chart-names.ts'

/**
 * Returns the names of the Secrets of a chart: those that it has, and those that it is to get.
 * Throws EngineError('refused') if a new one exists already, or if an object names a Secret of
 * another service.
 */
export async function secretsOfChart(
  { kube, instance }: KubeHost,
  place: ChartPlace,
  objects: readonly RenderedObject[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { namespace } = helmRelease(place)
  const { items } = await kube.list(kinds.secret, { namespace, metadataOnly: true }, signal)
  const own = Object.entries(chartLabels(place, instance))
  const isOwn = (labels: Readonly<Record<string, string>> = {}) => own.every(([key, value]) => labels[key] === value)
  const [mine, others] = [true, false].map((wanted) =>
    items.filter(({ metadata }) => isOwn(metadata.labels) === wanted).map(({ metadata }) => metadata.name),
  )
  const foreign = items.filter(({ metadata: { labels } }) => labels?.[label.manager] === manager && !isOwn(labels))
  const text = JSON.stringify(objects)
  const named = foreign.find(({ metadata }) => text.includes(JSON.stringify(metadata.name)))
  if (named) throw refused(`an object names the Secret "${named.metadata.name}" of another service; use one of its own`)
  const wanted = objects.filter(({ kind }) => kind === 'Secret').map(({ metadata }) => metadata.name)
  const taken = wanted.find((name) => others?.includes(name))
  if (taken === undefined) return [...new Set([...(mine ?? []), ...wanted])]
  throw refused(`the Secret "${taken}" exists and is not one of the chart; give it another name`)
}

const refused = (message: string): EngineError => new EngineError('refused', message)
