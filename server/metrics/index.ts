/**
 * Figures in the text format of Prometheus: of the platform for its operator, and of the traffic of
 * services. Everything is read when somebody asks.
 */
export { createMetrics, type Metrics } from './metrics.ts'
export { metricsSecret } from './secret.ts'
