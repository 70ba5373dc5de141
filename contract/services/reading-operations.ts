import { named, operation } from '../operation.ts'
import { Link, Log } from '../resources/log.ts'
import { ShortStatus, Status } from '../resources/status.ts'
import { Integer, Results, Type } from '../schema.ts'
import type { KindName } from './kinds.ts'
import { type Noun, onService, pathOf } from './on-service.ts'

/** The operations that read the status, log and URLs of a service. */

/** The status of one service, and of all services of its kind in an environment. */
export const statusOperations = <const N extends KindName, const K extends string>(name: N, kind: Noun<K>) =>
  named(kind.noun, {
    'get{Kind}Status': operation({
      ...onService(name, kind),
      method: 'GET',
      path: `${pathOf(name)}/status`,
      handler: 'getServiceStatus',
      access: 'read',
      summary: 'Returns the status of a service and of its last deployment.',
      reply: Status,
      status: 200,
    }),
    'getEnvironment{Kind}Status': operation({
      method: 'GET',
      path: `/environment/{environmentId}/${name}/status`,
      handler: 'listServiceStatuses',
      target: 'environment',
      kind: name,
      tag: kind.noun,
      access: 'read',
      summary: 'Lists the status of each service of this kind in an environment, including those never deployed.',
      reply: Results(Status),
      status: 200,
    }),
  })

/**
 * The only status with short states, for clients of the specification. It exists for applications
 * only.
 */
export const shortStatusOperation = {
  getApplicationStatus: operation({
    ...onService('application', { noun: 'Application' }),
    method: 'GET',
    path: `${pathOf('application')}/status`,
    handler: 'getStatusForClient',
    access: 'read',
    shortStates: true,
    summary: 'Returns the status of a service and of its last deployment.',
    reply: ShortStatus,
    status: 200,
  }),
}

export const logOperation = <const N extends KindName, const K extends string>(name: N, kind: Noun<K>) =>
  named(kind.noun, {
    'list{Kind}Log': operation({
      ...onService(name, kind),
      method: 'GET',
      path: `${pathOf(name)}/log`,
      handler: 'listServiceLog',
      access: 'read',
      summary:
        'Lists the last log lines of a service, oldest first. `tail` is the number of lines: 1,000 by default, at most 10,000.',
      query: Type.Object({ tail: Type.Optional(Integer(1, 1_000_000_000)) }),
      reply: Results(Log),
      status: 200,
    }),
  })

export const linkOperation = <const N extends KindName, const K extends string>(name: N, kind: Noun<K>) =>
  named(kind.noun, {
    'list{Kind}Links': operation({
      ...onService(name, kind),
      method: 'GET',
      path: `${pathOf(name)}/link`,
      handler: 'listServiceLinks',
      access: 'read',
      summary: 'Lists the URLs of a service.',
      reply: Results(Link),
      status: 200,
    }),
  })
