import type { Sql } from '../database/index.ts'

/** The owners of an object, as far as it has them. */
export interface Place {
  readonly organization?: Named | undefined
  readonly project?: Named | undefined
  readonly environment?: Named | undefined
  readonly cluster?: Named | undefined
  readonly service?: (Named & { readonly kind: string }) | undefined
}
interface Named {
  readonly id: string
  readonly name: string
}

type PlaceRow = { readonly [P in keyof Place]: Place[P] | null }

/** Finds the owners of the service, environment or project with this id. */
export async function findPlace(sql: Sql, id: string): Promise<Place | undefined> {
  const named = (alias: string) =>
    sql`case when ${sql(alias)}.id is not null then jsonb_build_object('id', ${sql(alias)}.id, 'name',
      ${sql(alias)}.name) end`
  const [row] = await sql<PlaceRow[]>`
    select ${named('o')} as organization, ${named('p')} as project, ${named('e')} as environment,
      case when s.id is not null then jsonb_build_object('id', s.id, 'name', s.name, 'kind', s.kind) end as service
    from (values (${id}::uuid)) as wanted (id)
    left join service s on s.id = wanted.id
    left join environment e on e.id = coalesce(s.environment_id, wanted.id)
    left join project p on p.id = coalesce(e.project_id, wanted.id)
    join organization o on o.id = p.organization_id`
  if (!row) return undefined
  const { organization, project, environment, service } = row
  return {
    organization: organization ?? undefined,
    project: project ?? undefined,
    environment: environment ?? undefined,
    service: service ?? undefined,
  }
}
