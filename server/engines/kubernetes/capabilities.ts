import type { EngineCapabilities } from '../engine.ts'

/** What every cluster of Kubernetes can do. */
export const kubernetesCapabilities: Omit<EngineCapabilities, 'events'> = {
  description: 'a cluster of Kubernetes, which runs applications, containers, databases and jobs',
  shapes: new Set(['long-running', 'task']),
  settings: new Set(['read-only-root', 'lifecycle-commands', 'node-placement', 'cluster-tls']),
  images: 'registry',
  publishesPorts: false,
  measuresDisk: false,
  scalesByLoad: true,
}
