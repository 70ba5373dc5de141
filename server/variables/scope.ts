/**
 * The scope of variables, and so what is reachable from it. It is made from objects that were
 * loaded and authorized.
 */
export type Scope = ProjectScope | EnvironmentScope | ServiceScope

export interface ProjectScope {
  readonly scope: 'PROJECT'
  readonly projectId: string
  readonly organizationId: string
}

export interface EnvironmentScope {
  readonly scope: 'ENVIRONMENT'
  readonly environmentId: string
  readonly projectId: string
  readonly organizationId: string
}

export interface ServiceScope {
  readonly scope: 'SERVICE'
  readonly serviceId: string
  readonly serviceName: string
  readonly kind: string
  readonly environmentId: string
  readonly projectId: string
  readonly organizationId: string
}

const ranks = { BUILT_IN: 0, PROJECT: 1, ENVIRONMENT: 2, SERVICE: 3 } as const

/** The rank of a scope. A narrower scope has a larger number. */
export const rankOf = (scope: keyof typeof ranks): number => ranks[scope]

/** Returns `wanted` as a scope around this one, or undefined if `wanted` is narrower. */
export function widen(scope: Scope, wanted: Scope['scope']): Scope | undefined {
  if (rankOf(wanted) > rankOf(scope.scope)) return undefined
  const { projectId, organizationId } = scope
  if (wanted === 'PROJECT') return { scope: 'PROJECT', projectId, organizationId }
  if (wanted === 'SERVICE' || scope.scope === 'PROJECT') return scope
  return { scope: 'ENVIRONMENT', environmentId: scope.environmentId, projectId, organizationId }
}

/** The only owner of a row. */
export type Owner = { readonly projectId: string } | { readonly environmentId: string } | { readonly serviceId: string }

/** The owners whose variables are reachable, as parameters of a statement. */
export interface Chain {
  readonly projectId: string
  readonly environmentId: string | null
  readonly serviceId: string | null
}

export const ownerOf = (scope: Scope): Owner => {
  if (scope.scope === 'SERVICE') return { serviceId: scope.serviceId }
  return scope.scope === 'ENVIRONMENT' ? { environmentId: scope.environmentId } : { projectId: scope.projectId }
}

export const chainOf = (scope: Scope): Chain => ({
  projectId: scope.projectId,
  environmentId: scope.scope === 'PROJECT' ? null : scope.environmentId,
  serviceId: scope.scope === 'SERVICE' ? scope.serviceId : null,
})

/** The name of the scope in messages. */
export const nameOf = (scope: Scope['scope'], kind?: string): string =>
  scope === 'SERVICE' ? (kind ?? 'service') : scope.toLowerCase()
