import { readHelmYaml } from '../lib/helm-yaml.ts'

/** The files of a chart that decide which other charts it needs. */
export interface DependencyFiles {
  readonly chart: string
  /** `Chart.lock`. Undefined: it has none. */
  readonly lock: string | undefined
  /** The directories below `charts/`. */
  readonly present: readonly string[]
}

/** A chart to fetch, in the version of `Chart.lock`. */
export interface NeededChart {
  readonly name: string
  readonly version: string
  readonly repository: string
}

export type NeededCharts = { readonly needed: readonly NeededChart[] } | { readonly problem: string }

const most = 30

/**
 * Returns the charts that a chart names and does not contain, or why they cannot be fetched. Runs
 * in a worker, because YAML may take time quadratic in its length.
 */
export function readDependencies({ chart, lock, present }: DependencyFiles): NeededCharts {
  const named = listIn(chart)
  const missing = named.filter(({ name }) => !present.some((directory) => isOf(directory, name)))
  if (missing.length === 0) return { needed: [] }
  const names = missing.map(({ name }) => `"${name}"`).join(', ')
  if (lock === undefined) {
    return { problem: `it does not contain the charts ${names}, and has no Chart.lock; ${advice}` }
  }
  if (missing.length > most) return { problem: `it lacks ${missing.length} charts; ${advice}` }
  const locked = listIn(lock)
  const needed: NeededChart[] = []
  for (const { name, repository } of missing) {
    if (!/^(?:https?|oci):\/\/[^/]/.test(repository)) {
      const what = repository === '' ? 'no repository' : `the repository "${repository}"`
      return { problem: `its dependency "${name}" has ${what}, from which nothing is fetched; ${advice}` }
    }
    const found = locked.find((one) => one.name === name && one.repository === repository)
    if (!found) return { problem: `its Chart.lock does not have the chart "${name}" of ${repository}; ${advice}` }
    needed.push(found)
  }
  return { needed: [...new Map(needed.map((one) => [`${one.name} ${one.version}`, one])).values()] }
}

const advice = 'run "helm dependency update" and commit Chart.lock and charts/'

/** Archives have their version in their name, and directories may have it too. */
const isOf = (directory: string, name: string): boolean =>
  directory === name || (directory.startsWith(`${name}-`) && /^v?\d/.test(directory.slice(name.length + 1)))

/** A file that cannot be read names nothing: Helm says why. */
function listIn(text: string): readonly NeededChart[] {
  const read = readHelmYaml(text)
  const list: unknown = 'problem' in read ? [] : Object(read.documents[0]).dependencies
  if (!Array.isArray(list)) return []
  return list.map((one: unknown) => {
    const { name, version, repository } = Object(one)
    return { name: String(name ?? ''), version: String(version ?? ''), repository: String(repository ?? '') }
  })
}
