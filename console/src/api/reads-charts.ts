import { queryOptions } from '@tanstack/react-query'
import { chartSource } from '../forms/chart-values.ts'
import { asBody, asDraft } from '../forms/draft.ts'
import { api } from './client.ts'

import type { PlannedResource } from './reads-stacks.ts'

type Helm = Awaited<ReturnType<typeof api.getHelm>>

/** The file values.yaml of a chart. Its repository is asked, so it is read only when shown. */
export const defaultValues = (environmentId: string, chart: Helm) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'default values', chart.id],
    queryFn: () =>
      api.createHelmDefaultValues({ environmentId, body: { source: asBody(chartSource(asDraft(chart))) } }),
    staleTime: 0,
  })

export type ChartDiff = Awaited<ReturnType<typeof api.getHelmDiff>>

/** The newest diff of a chart with its objects. Null before the first one. */
export const newestDiff = (environmentId: string, chartId: string) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'diff', chartId],
    queryFn: async () => {
      const { results } = await api.listHelmDiffs({ helmId: chartId })
      return results[0] ? api.getHelmDiff({ helmId: chartId, diffId: results[0].id }) : null
    },
    staleTime: 0,
  })

const actions = { CREATE: 'create', CHANGE: 'update', DELETE: 'delete' } as const

/** Pure: the changed objects of a chart, in the form of the resources of a plan. */
export const changedObjects = ({ objects }: ChartDiff): readonly PlannedResource[] =>
  objects.map(({ kind, name, namespace, change, fields }) => ({
    address: `${kind} ${namespace === null ? name : `${namespace}/${name}`}`,
    action: actions[change],
    changes: fields.map(({ path, is_hidden, before, after }) => ({
      name: path,
      before,
      after,
      is_sensitive: is_hidden,
      is_known: true,
    })),
  }))

/** Pure: the counts of a diff, in the form of those of a plan. */
export const changeCounts = ({ counts: { create, change, delete: removed } }: ChartDiff) => ({
  create,
  update: change,
  replace: 0,
  delete: removed,
  read: 0,
  forget: 0,
})

/** The services of Kubernetes of a running chart, as its last deployment left them. */
export const chartServices = (environmentId: string, helmId: string) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'chart services', helmId],
    queryFn: async () => (await api.getHelmKubernetesServices({ helmId })).results,
    staleTime: 0,
  })
