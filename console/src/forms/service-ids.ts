import type { KindName } from '@quayside/contract/services/kinds.ts'

interface Named {
  readonly id: string
  readonly kind: KindName
}

/** Pure: names services by kind, as the operations on several services of an environment expect. */
export function serviceIds(chosen: readonly Named[]) {
  const of = (kind: KindName): string[] => chosen.filter((one) => one.kind === kind).map(({ id }) => id)
  return {
    application_ids: of('application'),
    container_ids: of('container'),
    database_ids: of('database'),
    job_ids: of('job'),
    helm_ids: of('helm'),
    terraform_ids: of('terraform'),
  }
}
