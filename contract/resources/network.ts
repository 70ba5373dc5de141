import { named, operation } from '../operation.ts'
import { Defaulted, Type } from '../schema.ts'

/** The advanced setting `network.ingress.enable_sticky_session` under its previous name. */
export const Network = Type.Object({ sticky_session: Type.Boolean() })
export const NetworkRequest = Type.Object({ sticky_session: Defaulted(Type.Boolean(), false) })

export function networkOperations<const K extends string, const N extends string>(noun: K, kind: N) {
  const path = `/${kind}/{${kind}Id}/network` as const
  const onService = { target: 'service', kind, tag: `${noun} Configuration`, path, reply: Network } as const
  return named(noun, {
    'get{Kind}Network': operation({
      ...onService,
      method: 'GET',
      handler: 'getServiceNetwork',
      access: 'read',
      summary: 'Returns the network settings of a service: whether sticky sessions are enabled.',
      status: 200,
    }),
    'edit{Kind}Network': operation({
      ...onService,
      method: 'PUT',
      handler: 'editServiceNetwork',
      access: 'write',
      event: { type: 'UPDATE', target: 'SERVICE', sub: 'CONFIG' },
      summary:
        'Changes the network settings of a service, and with them the advanced setting `network.ingress.enable_sticky_session`.',
      body: NetworkRequest,
      status: 201,
    }),
  })
}
