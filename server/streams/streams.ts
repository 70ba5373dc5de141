import type { StreamPath } from '@quayside/contract/streams.ts'
import type { Database } from '../database/index.ts'
import type { EngineOf, Observes, Reachable, Terminals } from '../engines/index.ts'
import type { createStages } from '../environments/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { LineStore } from '../logs/index.ts'
import type { StateChanges } from '../state-changes/index.ts'
import { clusterMetrics, clusterNodes, clusterStatus } from './clusters.ts'
import { deploymentLogs } from './deployment-logs.ts'
import { deploymentStatus } from './deployment-status.ts'
import type { Outlet } from './outlet.ts'
import { serviceLogs } from './service-logs.ts'
import { serviceMetrics } from './service-metrics.ts'
import { servicePods } from './service-pods.ts'
import { serviceStatus } from './service-status.ts'
import { forwardPort, shell } from './shell.ts'
import type { StreamCall } from './stream-call.ts'

export type { Outlet } from './outlet.ts'
export type { StreamCall } from './stream-call.ts'

export interface StreamsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly engineOf: EngineOf<Reachable & Observes & Terminals>
  readonly lines: LineStore
  readonly stateChanges: StateChanges
  readonly stages: Pick<ReturnType<typeof createStages>, 'list'>
}

/**
 * Sends until the signal is aborted or nothing more can come. Throws AppError for errors that the
 * client can correct, and EngineError for errors of the engine. May return the reason of its end
 * for the client.
 */
export type Feed = (
  call: StreamCall,
  outlet: Outlet,
  signal: AbortSignal,
) => Promise<void> | Promise<string | undefined>
export type Feeds = Readonly<Record<StreamPath, Feed>>

export function createStreams(options: StreamsOptions): Feeds {
  return {
    '/service/logs': serviceLogs(options),
    '/service/status': serviceStatus(options),
    '/service/pods': servicePods(options),
    '/service/metrics': serviceMetrics(options),
    '/deployment/status': deploymentStatus(options),
    '/deployment/logs': deploymentLogs(options),
    '/cluster/status': clusterStatus(options),
    '/cluster/metrics': clusterMetrics(options),
    '/cluster/node': clusterNodes(options),
    '/cluster/nodes': clusterNodes(options),
    '/infra/logs': nothing,
    '/shell/exec': shell(options),
    '/shell/ephemeral': nothing,
    '/shell/portforward': forwardPort(options),
    '/shell/debug': nothing,
  }
}

/** Unreachable, because the contract rejects it first. */
const nothing: Feed = async () => {}
