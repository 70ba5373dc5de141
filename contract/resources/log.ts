import { Timestamp, Type, Uuid } from '../schema.ts'

/** One line that a service printed. */
export const Log = Type.Object({
  id: Uuid,
  created_at: Timestamp,
  message: Type.String(),
  pod_name: Type.String(),
  version: Type.String(),
})

export const Link = Type.Object({
  service_id: Uuid,
  service_type: Type.String(),
  url: Type.String(),
  internal_port: Type.Integer(),
  external_port: Type.Integer(),
  is_qovery_domain: Type.Boolean(),
  is_default: Type.Boolean(),
})
