/** The client of an API server of Kubernetes. */
export type { KubeAccess } from './access.ts'
export type { ContainerPlace, KubeExec } from './exec.ts'
export { type Kind, kindOf, kinds } from './kinds.ts'
export * from './kube.ts'
export { isKubeError, isPassing, KubeError } from './kube-error.ts'
export type { KubeList } from './list-objects.ts'
export type * from './objects.ts'
export type { WatchEvent } from './watch.ts'
