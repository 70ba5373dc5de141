import { operation, operationWith } from '../operation.ts'
import { Link, Log } from '../resources/log.ts'
import { ShortStatus, Status } from '../resources/status.ts'
import { Integer, Results, Type } from '../schema.ts'
import { type KindName, serviceKinds } from './kinds.ts'
import { onService, pathOf } from './on-service.ts'

/** The operations that read the status, log and URLs of a service. */

/** Each kind with the same value. */
const every = <const T>(value: T) =>
  ({ application: value, container: value, database: value, job: value, helm: value, terraform: value }) as const
/** The status with short states exists for applications only, for clients of the specification. */
const statusHandlers = { ...every('getServiceStatus'), application: 'getStatusForClient' } as const
const statusReplies = { ...every(Status), application: ShortStatus } as const
const statusForms = { ...every({}), application: { shortStates: true } } as const

/** The status of one service, and of all services of its kind in an environment. */
export const statusTemplates = <const N extends KindName>(name: N) => ({
  'get{Kind}Status': operationWith(statusForms[name], {
    ...onService(name),
    method: 'GET',
    path: `${pathOf(name)}/status`,
    handler: statusHandlers[name],
    access: 'read',
    summary: 'Returns the status of a service and of its last deployment.',
    reply: statusReplies[name],
    status: 200,
  }),
  'getEnvironment{Kind}Status': operation({
    method: 'GET',
    path: `/environment/{environmentId}/${name}/status`,
    handler: 'listServiceStatuses',
    target: 'environment',
    kind: name,
    tag: serviceKinds[name].noun,
    access: 'read',
    summary: 'Lists the status of each service of this kind in an environment, including those never deployed.',
    reply: Results(Status),
    status: 200,
  }),
})

export const logTemplates = <const N extends KindName>(name: N) => ({
  'list{Kind}Log': operation({
    ...onService(name),
    method: 'GET',
    path: `${pathOf(name)}/log`,
    handler: 'listServiceLog',
    access: 'read',
    summary:
      'Lists the last log lines of a service, oldest first. `tail` is the number of lines: 1,000 by default, ' +
      'at most 10,000.',
    query: Type.Object({ tail: Type.Optional(Integer(1, 1_000_000_000)) }),
    reply: Results(Log),
    status: 200,
  }),
})

export const linkTemplates = <const N extends KindName>(name: N) => ({
  'list{Kind}Links': operation({
    ...onService(name),
    method: 'GET',
    path: `${pathOf(name)}/link`,
    handler: 'listServiceLinks',
    access: 'read',
    summary: 'Lists the URLs of a service.',
    reply: Results(Link),
    status: 200,
  }),
})
