import type { api } from './client.ts'

export type HistoryEntry = Awaited<ReturnType<typeof api.listApplicationDeploymentHistoryV2>>['results'][number]

interface Version {
  readonly commit?: { readonly git_commit_id: string; readonly message: string } | null
  readonly image_name?: string | null
  readonly tag?: string | null
  readonly repository?: { readonly chart_name: string; readonly chart_version: string } | null
}

/** Pure: a commit with its first line, an image with its tag, or a chart with its version. */
export function versionOf({ commit, image_name: image, tag, repository: chart }: Version): string {
  if (commit) return `${commit.git_commit_id.slice(0, 8)} ${commit.message.split('\n')[0]}`
  if (chart) return `${chart.chart_name} ${chart.chart_version}`
  return image ? `${image}:${tag ?? 'latest'}` : ''
}

/** Pure: whether a deployment began a version that can be compared with others. */
export const beganVersion = ({ status_details: { action } }: HistoryEntry): boolean =>
  action === 'DEPLOY' || action === 'RESTART'

/** Pure: the version that runs, or ran last: the newest one whose deployment succeeded. */
export const lastVersion = (history: readonly HistoryEntry[]): HistoryEntry | undefined =>
  history.find((entry) => beganVersion(entry) && entry.status_details.status === 'SUCCESS')

/** Pure: the deployment before another one that began a version. */
export function versionBefore(history: readonly HistoryEntry[], executionId: string): HistoryEntry | undefined {
  const place = history.findIndex(({ identifier }) => identifier.execution_id === executionId)
  return place === -1 ? undefined : history.slice(place + 1).find(beganVersion)
}
