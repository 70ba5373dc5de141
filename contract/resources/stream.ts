import { Enum, extension, Nullable, Type, Uuid } from '../schema.ts'

/** The messages of streams. */

export const runningStateNames = [
  'STARTING',
  'RUNNING',
  'ERROR',
  'STOPPING',
  'STOPPED',
  'COMPLETED',
  'WARNING',
] as const
export type RunningState = (typeof runningStateNames)[number]

export const Log = Type.Object({
  created_at: Type.Integer({ description: 'milliseconds since 1970' }),
  message: Type.String(),
  pod_name: Type.String(),
  container_name: Type.String(),
  version: Type.String(),
  severity_text: Type.String(),
  labels: Type.Record(Type.String(), Type.String()),
  from_kube: Type.Boolean({ description: 'whether the line is from the platform, not the service' }),
})

const runningState = Enum(runningStateNames)
export const milliseconds = Type.Integer({ description: 'milliseconds since 1970' })
const ContainerState = Type.Object({
  name: Type.String(),
  image: Type.String(),
  restart_count: Type.Integer(),
  current_state: Type.Optional(
    Type.Object({
      state: runningState,
      started_at: Nullable(milliseconds),
      state_message: Type.Optional(Type.String()),
      state_reason: Type.Optional(Type.String()),
    }),
  ),
  last_terminated_state: Type.Optional(
    Type.Object({
      exit_code: Type.Integer(),
      exit_code_message: Type.String(),
      reason: Type.String(),
      message: Type.String(),
      signal: Type.Integer(),
      started_at: milliseconds,
      finished_at: milliseconds,
    }),
  ),
})
const Pod = Type.Object({
  name: Type.String(),
  state: runningState,
  state_message: Type.String({ description: 'a sentence and the last log lines' }),
  state_reason: Type.String({ description: 'Error, OOMKilled, Completed, CrashLoopBackOff or Unreachable' }),
  started_at: Nullable(milliseconds),
  restart_count: Type.Integer(),
  service_version: Type.String(),
  last_events: Type.Array(
    Type.Object({ created_at: milliseconds, message: Type.String(), reason: Type.String(), type: Type.String() }),
  ),
  containers: Type.Array(ContainerState),
})
const database = { id: Uuid, state: runningState, pods: Type.Array(Pod) }
const application = { ...database, certificates: Type.Array(Type.Object({})) }
const terraform = {
  ...database,
  triggered_action: Type.Object({ action: Type.String(), sub_action: Type.String() }),
}
/** The running pods of the services of environments. */
export const ServiceStatus = Type.Object({
  environments: Type.Array(
    Type.Object({
      id: Uuid,
      project_id: Uuid,
      state: runningState,
      applications: Type.Array(Type.Object(application)),
      containers: Type.Array(Type.Object(application)),
      jobs: Type.Array(Type.Object(application)),
      helms: Type.Array(Type.Object(application)),
      databases: Type.Array(Type.Object(database)),
      terraform: Type.Array(Type.Object(terraform)),
      argocd_apps: Type.Array(Type.Object({})),
      agentic_workflows: Type.Array(Type.Object({})),
    }),
  ),
})

const Metric = Type.Object({
  name: Type.Optional(Type.String()),
  current: Type.Integer(),
  current_percent: Type.Integer(),
  limit: Type.Integer(),
  status: Enum(['OK', 'WARNING', 'ALERT']),
  unit: Enum(['mCPU', 'MiB', 'GiB']),
})
export const Metrics = Type.Object({
  pod_name: Type.String(),
  cpu: Metric,
  memory: Metric,
  storages: Type.Array(Metric),
})

export const ClusterStatus = Type.Object({
  computed_status: Type.Object({
    global_status: Enum(['RUNNING', 'WARNING', 'ERROR']),
    kube_version_status: Type.Object({
      type: Enum(['OK', 'DRIFT', 'UNKNOWN']),
      kube_version: Type.String(),
      expected_kube_version: Type.String(),
    }),
    is_max_nodes_size_reached: Type.Boolean(),
    node_warnings: Type.Record(Type.String(), Type.Unknown()),
    qovery_components: Type.Array(Type.Object({})),
    qovery_components_in_failure: Type.Array(Type.Object({})),
  }),
})
const capacity = { cpu_milli: Type.Integer(), memory_mib: Type.Integer() }
const unmeasured = Type.Optional(Type.Integer({ description: 'absent if the cluster does not measure it' }))
const NodeCondition = Type.Object({
  type: Type.String(),
  status: Enum(['True', 'False', 'Unknown']),
  reason: Type.String(),
  message: Type.String(),
})
export const ClusterMetrics = Type.Object({
  nodes: Type.Array(
    Type.Object({
      name: Type.String(),
      architecture: Type.String(),
      kernel_version: Type.String(),
      operating_system: Type.String(),
      os_image: Type.String(),
      kubelet_version: Type.String({ description: 'of a machine with Docker, the version of Docker' }),
      created_at: Type.Optional(milliseconds),
      unschedulable: Type.Boolean(),
      conditions: Type.Array(NodeCondition),
      pod_count: extension(Type.Integer({ description: 'running pods or containers, also of others' })),
      resources_capacity: Type.Object(capacity),
      resources_allocatable: Type.Object({
        ...capacity,
        pods: Type.Optional(Type.Integer({ description: 'absent if nothing limits them' })),
      }),
      resources_allocated: Type.Object({
        request_cpu_milli: Type.Integer(),
        request_memory_mib: Type.Integer(),
      }),
      metrics_usage: Type.Object({
        cpu_milli_usage: unmeasured,
        cpu_percent_usage: unmeasured,
        memory_mib_working_set_usage: unmeasured,
        memory_percent_working_set_usage: unmeasured,
      }),
    }),
  ),
  pvcs: Type.Array(Type.Object({})),
})
