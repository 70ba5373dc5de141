import type { RenderedObject } from '../../engine.ts'

/** Accounts that every namespace has, without rights. */
const everywhere = ['default', '']
const tokenOwner = 'kubernetes.io/service-account.name'

/**
 * Returns why an object of a chart may not be created: it would have the rights of an account that
 * is not of the chart. Pure.
 */
export function refusalOfAccount(object: RenderedObject, accounts: ReadonlySet<string>): string | undefined {
  const owner = object.metadata.annotations?.[tokenOwner]
  const named = owner === undefined ? [...accountsIn(object)] : [owner]
  const other = named.find((name) => !accounts.has(name) && !everywhere.includes(name))
  if (other === undefined) return undefined
  return (
    `uses the service account "${other}", which is not of the chart; have the chart create it, ` +
    'or set allow_cluster_wide_resources to true if you trust the chart'
  )
}

/** Returns the accounts of all pods in an object. */
function* accountsIn(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    // The second one is the old name of the first.
    if (['serviceAccountName', 'serviceAccount'].includes(name) && typeof inner === 'string') yield inner
    else yield* accountsIn(inner)
  }
}
