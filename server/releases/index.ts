/**
 * Immutable versions of services: what a deployment freezes, and the workload that an engine runs
 * from it.
 */
export {
  buildLimitsOf,
  isBuiltWithoutCache,
  isRecreated,
  programSettings,
  stopGraceSeconds,
} from './acting-settings.ts'
export { passwordsIn } from './basic-auth.ts'
export { changedNames } from './changed-names.ts'
export { type ChangedValue, changedValues } from './changed-values.ts'
export {
  type ChartValues,
  referencesOf,
  type ValuesFile,
  type ValuesInput,
  type ValuesReference,
  valuesOfChart,
} from './chart-values.ts'
export { isTriedOnData, scratchRelease } from './database-scratch.ts'
export { contentOfRelease, engineRelease, presentContent, type ReleaseReader } from './engine-release.ts'
export { copyRelease, freeze, openVariables, versionedOf } from './freeze.ts'
export { checkForced, eventOfDeployment, isRunWhenDeployed, type JobSettings, memberOf, runOf } from './job-settings.ts'
export { madeVolumesOf } from './made-volumes.ts'
export { createReleasePruner } from './release-pruner.ts'
export {
  type CommitJson,
  deleteRelease,
  findDeployedRelease,
  findLastRelease,
  findRelease,
  findReleaseOf,
  type ReleaseImage,
  type ReleaseRow,
  setReleaseImage,
  setReleasePort,
} from './release-store.ts'
export { leastMemoryMiB, startDeadlineSeconds } from './to-workload.ts'
export { changesOf, ofEachDeployment, type ReleaseContent, sorted } from './unchanged.ts'
export {
  archiveCommandOf,
  type Build,
  buildOf,
  chartVersionOf,
  hasTag,
  imageOf,
  isFetched,
  isPublished,
  leavesVariablesAlone,
  ownsItsFiles,
  pinnedRepositoryOf,
  registryHost,
  type Versioned,
  valuesRepositoryOf,
  volumesOf,
} from './versioned.ts'
