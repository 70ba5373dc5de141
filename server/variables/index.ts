// Variables and secrets of projects, environments and services: stores, changes and resolves them
// for workloads.

export { createAny, editAny, listAny, removeAny, standOnAny } from './any-variables.ts'
export { internalHost } from './built-ins.ts'
export type { VariableContext } from './change.ts'
export { copyVariables, findRename } from './copy-variables.ts'
export { type Change, type Near, type Seer, servicesThatSee } from './impact.ts'
export { importVariables } from './import-variables.ts'
export { ResolveError } from './interpolate.ts'
export { listVariableUses } from './list-uses.ts'
export { type ServiceOutput, setServiceOutputs } from './outputs.ts'
export { listOwnVariables, listProjectVariables, type OwnVariable } from './own-variables.ts'
export type { EditedVariable, NewVariable } from './plan-change.ts'
export type { CopyPlace, VariableCopy } from './plan-copy.ts'
export type { NewStanding } from './plan-standing.ts'
export type { AnyRecord, SecretRecord, VariableRecord } from './record.ts'
export type { Resolved, ResolvedFile, ResolvedVariable } from './resolve.ts'
export type { EnvironmentScope, ProjectScope, Scope, ServiceScope } from './scope.ts'
export { type VariableTarget, variableTarget } from './target-store.ts'
export {
  createSecret,
  createVariable,
  editSecret,
  editVariable,
  listSecrets,
  listVariables,
  removeSecret,
  removeVariable,
  standOnSecret,
  standOnVariable,
} from './variables.ts'
export { type Deployment, loadResolved, type ServiceVariables } from './variables-of-service.ts'
