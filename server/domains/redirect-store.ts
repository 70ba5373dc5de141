import type { Sql } from '../database/index.ts'
import type { HostPath } from './redirect-loops.ts'

/** Lists the paths of every host name of a service, also the paths of other services. */
export const listHostPaths = (sql: Sql, serviceId: string) =>
  sql<HostPath[]>`
    select r.host, r.path, bool_or(r.service_id = ${serviceId}) as "isOwn" from route r
    where r.public_protocol is null
      and r.host in (select host from route where service_id = ${serviceId} and public_protocol is null)
    group by r.host, r.path order by r.host, r.path`
