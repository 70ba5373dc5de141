import { Change, Type } from '../schema.ts'
import { ImageFields, imageFields } from './fields.ts'
import { LongRunning, longRunning } from './long-running.ts'

/** Settings of a container: an image of a registry, run as it is. */
const properties = { ...longRunning({ cpu: 10, memory: 10 }), ...imageFields }
export const ContainerCreate = Type.Object(properties)
/** What is absent stays as it is. */
export const ContainerEdit = Change(properties)

export const Container = Type.Object({
  ...LongRunning,
  ...ImageFields,
  service_type: Type.Literal('CONTAINER'),
  maximum_gpu: Type.Integer(),
})
