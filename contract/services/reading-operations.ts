import { named, operation } from '../operation.ts'
import { Link, Log } from '../resources/log.ts'
import { ShortStatus, Status } from '../resources/status.ts'
import { Integer, Results, Type } from '../schema.ts'
import type { KindName } from './kinds.ts'
import { type Noun, onService, pathOf } from './on-service.ts'

/** What tells how a service is: status, lines, addresses; each operation once. */

/** Its own status, and that of all of its kind in an environment. */
export const statusOperations = <const N extends KindName, const K extends string>(name: N, kind: Noun<K>) =>
  named(kind.noun, {
    'get{Kind}Status': operation({
      ...onService(name, kind),
      method: 'GET',
      path: `${pathOf(name)}/status`,
      handler: 'getServiceStatus',
      access: 'read',
      summary: 'What it is doing, and what its last deployment did.',
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
      summary: 'The status of each one of an environment, also of those that were never deployed.',
      reply: Results(Status),
      status: 200,
    }),
  })

/** The one status whose states are short for clients that know no others: the specification has it for applications alone. */
export const shortStatusOperation = {
  getApplicationStatus: operation({
    ...onService('application', { noun: 'Application' }),
    method: 'GET',
    path: `${pathOf('application')}/status`,
    handler: 'getStatusForClient',
    access: 'read',
    shortStates: true,
    summary: 'What it is doing, and what its last deployment did.',
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
      summary: 'Its last lines, oldest first; `tail` says how many (1,000), at most 10,000.',
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
      summary: 'The addresses where it answers.',
      reply: Results(Link),
      status: 200,
    }),
  })
