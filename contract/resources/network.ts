import { named, operation } from '../operation.ts'
import { Defaulted, Type } from '../schema.ts'

/** The same as the advanced setting `network.ingress.enable_sticky_session`, under the name that it had before. */
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
      summary: 'Whether requests of one visitor are to go to the same instance.',
      status: 200,
    }),
    'edit{Kind}Network': operation({
      ...onService,
      method: 'PUT',
      handler: 'editServiceNetwork',
      access: 'write',
      event: { type: 'UPDATE', target: 'SERVICE', sub: 'CONFIG' },
      summary: 'Changes it, and with it `network.ingress.enable_sticky_session` of the advanced settings.',
      body: NetworkRequest,
      status: 201,
    }),
  })
}
