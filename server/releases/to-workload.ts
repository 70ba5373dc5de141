import type { ScopedAnnotations } from '@quayside/contract/resources/tag-group.ts'
import type { LongRunning, Probe } from '../engines/index.ts'
import type { Secret } from '../lib/secret.ts'
import { mayScale, rangeOf, type Targets, wantedReplicas } from '../scaling/index.ts'
import type { EventPolicy, RunningSettings } from '../services/index.ts'
import { databaseWorkload } from './database-workload.ts'
import type { Versioned } from './versioned.ts'

/** What a workload needs besides its settings. */
export interface WorkloadInput {
  readonly service: string
  readonly image: string
  readonly variables: Readonly<Record<string, string | Secret>>
  readonly files: readonly { readonly path: string; readonly content: string | Secret }[]
  readonly aliases: readonly string[]
  readonly startDeadlineSeconds: number
  readonly stopGraceSeconds: number
  readonly hasReadOnlyRoot?: boolean
  readonly postStart?: readonly string[]
  readonly preStop?: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  readonly annotations?: ScopedAnnotations
  /** GiB that a replica may write outside its volumes if its settings do not say. */
  readonly layerGiB: number
  /** The address of a public database on this machine. */
  readonly publicPort?: { readonly address: string; readonly port: number }
  /** The number of replicas set by load or idleness; null if neither has set it. */
  readonly scale?: number | null
  /** The use at which the number of replicas is right, for kinds whose number may change. */
  readonly targets?: Targets
  /** The autoscaling policy, for kinds whose number may change. */
  readonly events?: EventPolicy
}

/** The least memory with which the engine can start a container. */
export const leastMemoryMiB = 16

/** Converts settings of a kind to a long-running workload. */
export function toWorkload(versioned: Versioned, input: WorkloadInput): LongRunning {
  switch (versioned.kind) {
    case 'application':
    case 'container':
      return runningWorkload(versioned.settings, input)
    case 'database':
      return databaseWorkload(versioned.settings, input)
    case 'job':
    case 'helm':
    case 'terraform':
      throw new Error(`a ${versioned.kind} does not run for long`)
  }
}

function runningWorkload(
  settings: RunningSettings,
  { service: _, publicPort: __, image, scale = null, targets, events, ...rest }: WorkloadInput,
): LongRunning {
  const { readiness_probe, liveness_probe } = settings.healthchecks
  const readiness = readiness_probe ? toProbe(readiness_probe) : undefined
  const liveness = liveness_probe ? toProbe(liveness_probe) : undefined
  const range = rangeOf(settings)
  return {
    ...rest,
    shape: 'long-running',
    image,
    arguments: settings.arguments,
    ...(settings.entrypoint ? { entrypoint: [settings.entrypoint] } : {}),
    // At least one replica starts, so that a failing start is noticed.
    replicas: { min: Math.max(1, wantedReplicas(range, scale)), max: range.max },
    ...(targets && mayScale(range) ? { targets } : {}),
    ...(events && mayScale(range) ? { events } : {}),
    cpuMilli: settings.cpu,
    memoryMiB: Math.max(leastMemoryMiB, settings.memory),
    layerGiB: settings.ephemeral_storage_in_gib || rest.layerGiB,
    ports: settings.ports.map(({ name, internal_port, protocol }) => ({ name, internalPort: internal_port, protocol })),
    probes: { ...(readiness ? { readiness } : {}), ...(liveness ? { liveness } : {}) },
    storage: settings.storage.map(({ id, mount_point, size }) => ({ id, mountPoint: mount_point, sizeGiB: size })),
  }
}

type ProbeSettings = NonNullable<RunningSettings['healthchecks']['readiness_probe']>

function toProbe(probe: ProbeSettings): Probe | undefined {
  const check = toCheck(probe.type)
  return (
    check && {
      check,
      initialDelaySeconds: probe.initial_delay_seconds,
      periodSeconds: probe.period_seconds,
      timeoutSeconds: probe.timeout_seconds,
      successThreshold: probe.success_threshold,
      failureThreshold: probe.failure_threshold,
    }
  )
}

function toCheck({ tcp, http, exec, grpc }: ProbeSettings['type']): Probe['check'] | undefined {
  if (tcp) return { type: 'tcp', port: tcp.port }
  if (http) return { type: 'http', path: http.path, scheme: http.scheme, port: http.port }
  if (exec) return { type: 'exec', command: exec.command }
  if (grpc) return { type: 'grpc', port: grpc.port, service: grpc.service ?? '' }
  return undefined
}

/** A killed database replays its log before it answers. */
const databaseStartSeconds = 300

/**
 * Returns how long a release may take to become healthy: what its readiness probe allows, between a
 * minute and an hour.
 */
export function startDeadlineSeconds({ kind, settings }: Versioned): number {
  if (kind === 'database') return databaseStartSeconds
  const probe = 'healthchecks' in settings ? settings.healthchecks.readiness_probe : undefined
  if (!probe) return 60
  const { initial_delay_seconds, period_seconds, timeout_seconds, failure_threshold } = probe
  const patience = initial_delay_seconds + failure_threshold * Math.max(period_seconds, timeout_seconds)
  return Math.min(3600, Math.max(60, patience))
}
