import { Change, Type } from '../schema.ts'
import { ImageFields, imageFields } from './fields.ts'
import { LongRunning, longRunning } from './long-running.ts'

/** The settings of a container, which runs an image of a registry. */
const properties = { ...longRunning({ cpu: 10, memory: 10 }), ...imageFields }
export const ContainerCreate = Type.Object(properties)
/** Absent fields are unchanged. */
export const ContainerEdit = Change(properties)

export const Container = Type.Object({
  ...LongRunning,
  ...ImageFields,
  service_type: Type.Literal('CONTAINER'),
  maximum_gpu: Type.Integer(),
})
