import type { ChartPlace } from '../../engine.ts'
import { label, manager, ownLabels } from '../labels.ts'
import { namespaceOf, safeId } from '../names.ts'

/** Returns the name of a chart's release in Helm, and its namespace. */
export const helmRelease = ({ service, environment }: ChartPlace) => ({
  name: `chart-${safeId(service).slice(-12)}`,
  namespace: namespaceOf(environment),
})

/** Returns the labels by which the objects of a chart are found. Helm sets the manager itself. */
export const chartLabels = (
  { service, environment }: Pick<ChartPlace, 'service' | 'environment'>,
  instance: string,
): Record<string, string> => ({
  [label.instance]: instance,
  [label.environment]: environment,
  [label.service]: service,
  [label.chart]: 'true',
})

/** Returns the labels of the pods and volumes of a chart. */
export const podLabels = (place: Pick<ChartPlace, 'service' | 'environment'>, instance: string) =>
  ownLabels(instance, chartLabels(place, instance))

/** The label that Helm sets on every object, and the platform on pods. */
export const managedBy = { name: label.manager, value: manager } as const
