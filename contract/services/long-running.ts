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

/** What kinds that run for long and answer requests have in common, as it is sent; the least that each may ask for differs. */
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

/** The same, answered. */
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
