// Variables and secrets of projects, environments and services: kept, changed, and resolved into what a workload gets.

export { internalHost } from './built-ins.ts'
export { ResolveError } from './interpolate.ts'
export type { EditedVariable, NewVariable } from './plan-change.ts'
export type { SecretRecord, VariableRecord } from './record.ts'
export type { Resolved, ResolvedFile, ResolvedVariable } from './resolve.ts'
export type { EnvironmentScope, ProjectScope, Scope, ServiceScope } from './scope.ts'
export {
  createSecret,
  createVariable,
  editSecret,
  editVariable,
  listSecrets,
  listVariables,
  removeSecret,
  removeVariable,
} from './variables.ts'
export { type Deployment, loadResolved, type ServiceVariables } from './variables-of-service.ts'
export type { VariableContext } from './write-variable.ts'
