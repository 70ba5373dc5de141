import type { KindName } from '@quayside/contract/services/kinds.ts'
import { applicationBranch } from './application.ts'
import type { Branch } from './branch.ts'
import { containerBranch } from './container.ts'
import { databaseBranch } from './database.ts'
import { helmBranch } from './helm.ts'
import { jobBranch } from './job.ts'
import { terraformBranch } from './terraform.ts'

/** The settings branch of each kind. */
export const branches: { readonly [K in KindName]: Branch<K> } = {
  application: applicationBranch,
  container: containerBranch,
  database: databaseBranch,
  job: jobBranch,
  helm: helmBranch,
  terraform: terraformBranch,
}
