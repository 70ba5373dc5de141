import type { Caller } from '../../access/index.ts'
import type { RequestedBy } from '../../requests/index.ts'
import type { Client, RecordRequest } from '../call.ts'

/** Returns the author of a deployment request. */
export const requestedBy = ({ caller, client, record }: By): RequestedBy => ({
  id: caller.id,
  name: caller.name,
  origin: client.origin,
  ...(record ? { record } : {}),
})

interface By {
  readonly caller: Caller
  readonly client: Client
  readonly record?: RecordRequest
}
