/**
 * Collects, stores and reads the lines of services and of deployments, in its own files. It knows
 * no rights.
 */
export { type Collector, createCollector } from './collector.ts'
export {
  type DeploymentLine,
  type DeploymentReporter,
  deploymentLine,
  deploymentSink,
  deploymentStream,
  readDeploymentLog,
  type Transmitter,
} from './deployment-log.ts'
export { lineId, type Marker, type NewLine, type StoredLine, type StreamKey } from './line.ts'
export { type LineStore, type LineStoreOptions, openLineStore } from './line-store.ts'
export { measureLines } from './measure-lines.ts'
export type { CollectorOptions, Mask } from './service-feed.ts'
export { type ServiceLine, serviceLine, serviceStream } from './service-line.ts'
