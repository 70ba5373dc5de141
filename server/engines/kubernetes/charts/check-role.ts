import type { RenderedObject } from '../../engine.ts'

/**
 * Returns why a Role of a chart may not be created: it grants Secrets that are not of the chart.
 * The API server would refuse it too, but only during the installation. Pure.
 */
export function refusalOfRole({ kind, ...object }: RenderedObject, secrets: ReadonlySet<string>): string | undefined {
  if (kind !== 'Role') return undefined
  const names = listOf(object['rules']).filter(concernsSecrets).flatMap(namesOf)
  const other = names.find((name) => name === undefined || !secrets.has(name))
  if (names.length === 0 || (names.every((name) => name !== undefined) && other === undefined)) return undefined
  const what =
    other === undefined ? 'all Secrets of the environment' : `the Secret "${other}", which is not of the chart`
  return (
    `grants ${what}; list Secrets of the chart in resourceNames, turn it off in its values, ` +
    'or set allow_cluster_wide_resources to true if you trust the chart'
  )
}

/** Creating a Secret reads none. */
function concernsSecrets(rule: unknown): boolean {
  const { apiGroups, resources, verbs } = Object(rule)
  const has = (list: unknown, ...words: string[]) => listOf(list).some((one) => words.includes(String(one)))
  const isMore = listOf(verbs).some((verb) => verb !== 'create')
  return has(apiGroups, '', '*') && has(resources, 'secrets', '*') && isMore
}

/** Undefined stands for all. */
function namesOf(rule: unknown): (string | undefined)[] {
  const names = listOf(Object(rule).resourceNames)
  return names.length === 0 ? [undefined] : names.map(String)
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
