import { portProtocols } from '../enums.ts'
import { Defaulted, Enum, Integer, Nullable, Text, Type, Uuid } from '../schema.ts'

/** The ports and volumes of services, in requests and in responses. */
const portFields = {
  internal_port: Integer(1, 65535),
  publicly_accessible: Type.Boolean(),
  protocol: Defaulted(Enum(portProtocols), 'HTTP'),
}
export const PortRequest = Type.Object({
  ...portFields,
  id: Type.Optional(Nullable(Uuid)),
  name: Type.Optional(Nullable(Text(63, 1))),
  external_port: Type.Optional(Nullable(Integer(1, 65535))),
  is_default: Type.Optional(Nullable(Type.Boolean())),
  public_path: Type.Optional(Nullable(Text(1000))),
  public_path_rewrite: Type.Optional(Nullable(Text(1000))),
})
export const Port = Type.Object({
  ...portFields,
  id: Uuid,
  name: Type.String(),
  external_port: Type.Optional(Type.Integer()),
  is_default: Type.Boolean(),
  public_path: Type.Optional(Type.String()),
  public_path_rewrite: Type.Optional(Type.String()),
})

const storageFields = { type: Enum(['FAST_SSD']), size: Integer(1, 65536), mount_point: Text(4096, 1) }
export const StorageRequest = Type.Object({ ...storageFields, id: Type.Optional(Nullable(Uuid)) })
export const Storage = Type.Object({ ...storageFields, id: Uuid })

/** In a request, none by default. */
export const portList = Defaulted(Type.Array(PortRequest, { maxItems: 100 }), [])
export const storageList = Defaulted(Type.Array(StorageRequest, { maxItems: 100 }), [])
