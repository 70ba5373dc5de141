import { Autoscaling, AutoscalingRequest } from '../resources/autoscaling.ts'
import { AnnotationsGroup, LabelsGroup } from '../resources/tag-group.ts'
import { Defaulted, Enum, extension, Integer, List, Nullable, Ref, Text, Type, Uuid } from '../schema.ts'

/**
 * Fields that several kinds share. Lower-case names are for requests, upper-case ones for records.
 */
export const name = Text(63, 1)
export const description = Type.Optional(Nullable(Text(1000)))
export const iconUri = Type.Optional(Nullable(Text(2000)))
export const autoDeploy = Type.Optional(Nullable(Type.Boolean()))
export const architectures = ['AMD64', 'ARM64'] as const
export const cpuArchitecture = Type.Optional(Nullable(Enum(architectures)))
export const argumentList = Defaulted(Type.Array(Text(4096), { maxItems: 256 }), [])
export const entrypoint = Type.Optional(Nullable(Text(4096)))
export const Arguments = Type.Array(Type.String())

/** Existing groups, by their ids. Responses have the whole groups. */
export const groups = {
  annotations_groups: Type.Optional(List(Ref, 100)),
  labels_groups: Type.Optional(List(Ref, 100)),
}
export const Groups = {
  annotations_groups: Type.Array(AnnotationsGroup),
  labels_groups: Type.Array(LabelsGroup),
}
export const scaling = { autoscaling: Type.Optional(Nullable(AutoscalingRequest)) }
export const Scaling = { autoscaling: Type.Optional(Autoscaling) }

/** The resource limits of a service. `cpu` is in thousandths of a core, `memory` in MB. */
export const resources = (least: { readonly cpu: number; readonly memory: number }) => ({
  cpu: Defaulted(Type.Integer({ minimum: least.cpu, maximum: 1_000_000, description: 'thousandths of a core' }), 500),
  memory: Defaulted(Type.Integer({ minimum: least.memory, maximum: 10_000_000, description: 'MB' }), 512),
  gpu: Defaulted(Type.Integer({ minimum: 0, maximum: 64 }), 0),
  ephemeral_storage_in_gib: Type.Optional(Nullable(Integer(0, 65536))),
  cpu_architecture: cpuArchitecture,
})
export const instances = {
  min_running_instances: Defaulted(Type.Integer({ minimum: 0, maximum: 100 }), 1),
  max_running_instances: Defaulted(Type.Integer({ minimum: -1, maximum: 100 }), 1),
}

/** The same in responses, with the limits of the cluster. */
export const Resources = {
  cpu: Type.Integer(),
  memory: Type.Integer(),
  gpu: Type.Integer(),
  maximum_cpu: Type.Integer(),
  maximum_memory: Type.Integer(),
  ephemeral_storage_in_gib: Type.Optional(Type.Integer()),
  cpu_architecture: Nullable(Enum(architectures)),
}
export const Instances = { min_running_instances: Type.Integer(), max_running_instances: Type.Integer() }

/** An image of a container registry of the organization. */
export const imageFields = { image_name: Text(1000, 1), tag: Text(128, 1), registry_id: Uuid }
export const ImageFields = {
  image_name: Type.String(),
  tag: Type.String(),
  registry_id: Uuid,
  registry: Type.Object({ id: Uuid, name: Type.String(), url: Type.String(), kind: Type.String() }),
}

/** Whether a copy includes the data of volumes and databases. */
export const withData = Type.Optional(
  extension(
    Nullable(
      Defaulted(
        Type.Boolean({
          description:
            'also copies volumes and databases, all at one moment. Their services are paused meanwhile. The ' +
            'copy can be used once its data is complete',
        }),
        false,
      ),
    ),
  ),
)
