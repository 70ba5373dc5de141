import type { Caller } from '../../access/index.ts'
import type { RequestedBy } from '../../deployments/index.ts'
import type { Client } from '../call.ts'

/** Who a deployment request is of. */
export const requestedBy = ({ caller, client }: { caller: Caller; client: Client }): RequestedBy => ({
  id: caller.id,
  name: caller.name,
  origin: client.origin,
})
