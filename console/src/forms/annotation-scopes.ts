import type { AnnotationScope } from '@quayside/contract/resources/tag-group.ts'

/** The kinds of objects with annotations, in words. */
const words = {
  PODS: 'pods',
  DEPLOYMENTS: 'deployments',
  SERVICES: 'services of Kubernetes',
  SECRETS: 'secrets',
  HPA: 'autoscalers',
  JOBS: 'jobs',
  CRON_JOBS: 'cron jobs',
  STATEFUL_SETS: 'stateful sets',
  INGRESS: 'ingresses',
  GATEWAY_API_ROUTES: 'routes of the Gateway API',
} as const satisfies Record<AnnotationScope, string>

export const annotationScopeWords = Object.entries(words).map(([value, label]) => ({ value, label }))

/** Pure: a kind of objects in words. */
export const scopeInWords = (scope: string): string =>
  annotationScopeWords.find(({ value }) => value === scope)?.label ?? scope
