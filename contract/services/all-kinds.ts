import { Enum, Nullable, Text, Type } from '../schema.ts'
import {
  deploymentOperations,
  deployOperation,
  restartOperation,
  rollbackOperation,
  stopOperation,
} from './deployment-operations.ts'
import { serviceKinds } from './kinds.ts'
import { linkOperation, logOperation, shortStatusOperation, statusOperations } from './reading-operations.ts'
import {
  deleteQuery,
  deleteTerraformQuery,
  listOperation,
  recordOperations,
  toUpdate,
  uninstallTerraform,
} from './record-operations.ts'

const { application, container, database, job, helm, terraform } = serviceKinds

/** The requested version of a deployment. Absent or empty means the version of the settings. */
const commit = Type.Optional(Nullable(Text(64)))
const tag = Type.Optional(Nullable(Text(128)))
const applyImmediately = { query: Type.Object({ applyImmediately: Type.Optional(Type.Boolean()) }) }
const forceJob = { query: Type.Object({ forceEvent: Type.Optional(Enum(['START', 'STOP', 'DELETE', 'CRON'])) }) }
const forceHelm = { query: Type.Object({ forceEvent: Type.Optional(Enum(['DIFF'])) }) }

const deployHelm = {
  ...forceHelm,
  body: Type.Object({
    chart_version: Type.Optional(Nullable(Text(255))),
    git_commit_id: commit,
    values_override_git_commit_id: commit,
  }),
}
const deployTerraform = {
  body: Type.Object({
    git_commit_id: commit,
    action: Type.Optional(Nullable(Enum(['PLAN', 'FORCE_UNLOCK', 'MIGRATE_STATE']))),
  }),
}

/** The operations of each kind of service. */
export const kindOperations = {
  ...listOperation('application', application, toUpdate),
  ...recordOperations('application', application, deleteQuery),
  ...statusOperations('application', application),
  ...shortStatusOperation,
  ...deployOperation('application', application, { body: Type.Object({ git_commit_id: commit }) }),
  ...deploymentOperations('application', application, {}, {}),
  ...rollbackOperation('application', application),
  ...stopOperation('application', application),
  ...restartOperation('application', application),
  ...logOperation('application', application),
  ...linkOperation('application', application),

  ...listOperation('container', container, {}),
  ...recordOperations('container', container, deleteQuery),
  ...statusOperations('container', container),
  ...deployOperation('container', container, { body: Type.Object({ image_tag: tag }) }),
  ...deploymentOperations('container', container, {}, {}),
  ...rollbackOperation('container', container),
  ...stopOperation('container', container),
  ...restartOperation('container', container),
  ...logOperation('container', container),
  ...linkOperation('container', container),

  ...listOperation('database', database, {}),
  ...recordOperations('database', database, deleteQuery),
  ...statusOperations('database', database),
  ...deployOperation('database', database, applyImmediately),
  ...deploymentOperations('database', database, applyImmediately, {}),
  ...rollbackOperation('database', database),
  ...stopOperation('database', database),
  ...restartOperation('database', database),

  ...listOperation('job', job, toUpdate),
  ...recordOperations('job', job, deleteQuery),
  ...statusOperations('job', job),
  ...deployOperation('job', job, { ...forceJob, body: Type.Object({ git_commit_id: commit, image_tag: tag }) }),
  ...deploymentOperations('job', job, forceJob, {}),
  ...rollbackOperation('job', job),
  ...stopOperation('job', job),

  ...listOperation('helm', helm, toUpdate),
  ...recordOperations('helm', helm, deleteQuery),
  ...statusOperations('helm', helm),
  ...deployOperation('helm', helm, deployHelm),
  ...deploymentOperations('helm', helm, forceHelm, {}),
  ...rollbackOperation('helm', helm),
  ...stopOperation('helm', helm),
  ...linkOperation('helm', helm),

  ...listOperation('terraform', terraform, {}),
  ...recordOperations('terraform', terraform, deleteTerraformQuery),
  ...deployOperation('terraform', terraform, deployTerraform),
  ...deploymentOperations('terraform', terraform, {}, uninstallTerraform),
  ...rollbackOperation('terraform', terraform),
} as const
