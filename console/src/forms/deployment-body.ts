import type { KindName } from '@quayside/contract/services/kinds.ts'

/** A service that takes part in a deployment. */
export interface ChosenService {
  readonly id: string
  readonly kind: KindName
  /** Whether it is made from git, so that its version is a commit. */
  readonly isFromGit: boolean
  /** A commit, an image tag or the version of a chart. Empty: that of its settings. */
  readonly version: string
}

/** The lists of `POST /environment/{id}/service/deploy`. */
export interface DeploymentBody {
  readonly applications: { application_id: string; git_commit_id?: string }[]
  readonly containers: { id: string; image_tag?: string }[]
  readonly databases: string[]
  readonly jobs: { id: string; git_commit_id?: string; image_tag?: string }[]
  readonly helms: { id: string; git_commit_id?: string; chart_version?: string }[]
  readonly terraforms: { id: string; git_commit_id?: string }[]
}

/** The sort of version that a service has, for people. Undefined if it cannot be chosen. */
export function versionNoun({ kind, isFromGit }: Pick<ChosenService, 'kind' | 'isFromGit'>): string | undefined {
  if (kind === 'database') return undefined
  if (isFromGit) return 'commit'
  return kind === 'helm' ? 'chart version' : 'image tag'
}

/** Pure: names the chosen services with their versions, by kind. */
export function deploymentBody(chosen: readonly ChosenService[]): DeploymentBody {
  const of = (kind: KindName) => chosen.filter((one) => one.kind === kind)
  const commit = ({ version }: ChosenService) => (version === '' ? {} : { git_commit_id: version })
  const versioned = (one: ChosenService, name: 'image_tag' | 'chart_version') =>
    one.isFromGit || one.version === '' ? {} : { [name]: one.version }
  const both = (one: ChosenService, name: 'image_tag' | 'chart_version') => ({
    id: one.id,
    ...(one.isFromGit && commit(one)),
    ...versioned(one, name),
  })
  return {
    applications: of('application').map((one) => ({ application_id: one.id, ...commit(one) })),
    containers: of('container').map((one) => ({ id: one.id, ...versioned(one, 'image_tag') })),
    databases: of('database').map(({ id }) => id),
    jobs: of('job').map((one) => both(one, 'image_tag')),
    helms: of('helm').map((one) => both(one, 'chart_version')),
    terraforms: of('terraform').map((one) => ({ id: one.id, ...commit(one) })),
  }
}
