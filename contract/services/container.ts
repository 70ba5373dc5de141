import { base, Change, Ref, Type } from '../schema.ts'
import {
  Arguments,
  argumentList,
  autoDeploy,
  description,
  entrypoint,
  Groups,
  groups,
  ImageFields,
  Instances,
  iconUri,
  imageFields,
  instances,
  name,
  Resources,
  resources,
  Scaling,
  scaling,
} from './fields.ts'
import { Port, portList, Storage, storageList } from './ports.ts'
import { Healthchecks, healthchecks } from './probes.ts'

/** Settings of a container: an image of a registry, run as it is. */
const properties = {
  name,
  ...imageFields,
  ...resources({ cpu: 10, memory: 10 }),
  ...instances,
  auto_preview: Type.Boolean({ default: true }),
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
}
export const ContainerCreate = Type.Object(properties)
/** What is absent stays as it is. */
export const ContainerEdit = Change(properties)

export const Container = Type.Object({
  ...base,
  environment: Ref,
  name: Type.String(),
  description: Type.String(),
  icon_uri: Type.String(),
  service_type: Type.Literal('CONTAINER'),
  ...ImageFields,
  ...Resources,
  maximum_gpu: Type.Integer(),
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
})
