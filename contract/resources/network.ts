import { operation } from '../operation.ts'
import { Defaulted, Type } from '../schema.ts'
import type { KindName } from '../services/kinds.ts'
import { onService, pathOf } from '../services/on-service.ts'

/** The advanced setting `network.ingress.enable_sticky_session` under its previous name. */
export const Network = Type.Object({ sticky_session: Type.Boolean() })
export const NetworkRequest = Type.Object({ sticky_session: Defaulted(Type.Boolean(), false) })

export function networkTemplates<const N extends KindName>(name: N) {
  const path = `${pathOf(name)}/network` as const
  const one = { ...onService(name, ' Configuration'), path, reply: Network } as const
  return {
    'get{Kind}Network': operation({
      ...one,
      method: 'GET',
      handler: 'getServiceNetwork',
      access: 'read',
      summary: 'Returns the network settings of a service: whether sticky sessions are enabled.',
      status: 200,
    }),
    'edit{Kind}Network': operation({
      ...one,
      method: 'PUT',
      handler: 'editServiceNetwork',
      access: 'write',
      event: { type: 'UPDATE', target: 'SERVICE', sub: 'CONFIG' },
      summary:
        'Changes the network settings of a service, and with them the advanced setting ' +
        '`network.ingress.enable_sticky_session`.',
      body: NetworkRequest,
      status: 201,
    }),
  }
}
