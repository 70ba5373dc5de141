import type { RenderedObject } from '../../engine.ts'

const orTrust = 'turn it off in its values, or set allow_cluster_wide_resources to true if you trust the chart'

/**
 * Returns why a Role of a chart may not be created: it grants Secrets that are not of the chart, or
 * decides where traffic leads. The API server would refuse most of it too, but only during the
 * installation. Pure.
 */
export function refusalOfRole({ kind, ...object }: RenderedObject, secrets: ReadonlySet<string>): string | undefined {
  if (kind !== 'Role') return undefined
  const rules = listOf(object['rules'])
  return refusalOfSecrets(rules, secrets) ?? refusalOfTrafficRules(rules)
}

function refusalOfSecrets(rules: readonly unknown[], secrets: ReadonlySet<string>): string | undefined {
  const names = rules.filter(concernsSecrets).flatMap(namesOf)
  const other = names.find((name) => name === undefined || !secrets.has(name))
  if (names.length === 0 || (names.every((name) => name !== undefined) && other === undefined)) return undefined
  const what =
    other === undefined ? 'all Secrets of the environment' : `the Secret "${other}", which is not of the chart`
  return `grants ${what}; list Secrets of the chart in resourceNames, ${orTrust}`
}

/** Creating a Secret reads none. */
const concernsSecrets = (rule: unknown): boolean => grants(rule, '', 'secrets', ['create'])

/** A pod with such a right creates Services and addresses that a chart itself may not have. */
function refusalOfTrafficRules(rules: readonly unknown[]): string | undefined {
  const found = ofTraffic.find(({ group, resource }) => rules.some((rule) => grants(rule, group, resource, harmless)))
  if (found === undefined) return undefined
  const what = `lets pods write ${found.resource}, which lead traffic past network rules`
  return `${what}; grant ${harmless.join(', ')} alone, ${orTrust}`
}

const harmless = ['get', 'list', 'watch', 'delete', 'deletecollection']
const ofTraffic = [
  { group: '', resource: 'services' },
  { group: '', resource: 'endpoints' },
  { group: 'discovery.k8s.io', resource: 'endpointslices' },
]

/** Whether a rule grants other verbs than these on a resource. */
function grants(rule: unknown, group: string, resource: string, except: readonly string[]): boolean {
  const { apiGroups, resources, verbs } = Object(rule)
  // The API server reads null in a list as an empty string: the group of Services.
  const has = (list: unknown, word: string) => listOf(list).some((one) => ['*', word].includes(String(one ?? '')))
  const isMore = listOf(verbs).some((verb) => !except.includes(String(verb)))
  return has(apiGroups, group) && has(resources, resource) && isMore
}

/** Undefined stands for all. */
function namesOf(rule: unknown): (string | undefined)[] {
  const names = listOf(Object(rule).resourceNames)
  return names.length === 0 ? [undefined] : names.map(String)
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
