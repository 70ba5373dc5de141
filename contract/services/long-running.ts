import { base, Defaulted, Ref, Type } from '../schema.ts'
import {
  Arguments,
  argumentList,
  autoDeploy,
  description,
  entrypoint,
  Groups,
  groups,
  Instances,
  iconUri,
  instances,
  name,
  Resources,
  resources,
  Scaling,
  scaling,
} from './fields.ts'
import { Port, portList, Storage, storageList } from './ports.ts'
import { Healthchecks, healthchecks } from './probes.ts'

/**
 * The request fields of kinds that run continuously and answer requests. Their smallest limits
 * differ.
 */
export const longRunning = (least: Parameters<typeof resources>[0]) => ({
  name,
  ...resources(least),
  ...instances,
  auto_preview: Defaulted(Type.Boolean(), true),
  description,
  entrypoint,
  auto_deploy: autoDeploy,
  icon_uri: iconUri,
  ...groups,
  ...scaling,
  ports: portList,
  storage: storageList,
  arguments: argumentList,
  healthchecks,
})

/** The same in responses. */
export const LongRunning = {
  ...base,
  environment: Ref,
  name: Type.String(),
  description: Type.String(),
  icon_uri: Type.String(),
  ...Resources,
  ...Instances,
  healthchecks: Healthchecks,
  auto_preview: Type.Boolean(),
  auto_deploy: Type.Boolean(),
  arguments: Arguments,
  entrypoint: Type.Optional(Type.String()),
  ports: Type.Array(Port),
  storage: Type.Array(Storage),
  ...Groups,
  ...Scaling,
}
