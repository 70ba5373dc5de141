import type { Wire } from '@quayside/client/client-of.ts'
import type { Static } from '@quayside/contract'
import type { DeploymentPlan } from '@quayside/contract/resources/deployment-plan.ts'
import type { KindName } from '@quayside/contract/services/kinds.ts'
import { api } from './client.ts'

type Plan = Wire<Static<typeof DeploymentPlan>>

interface VersionOperations {
  /** Deploys the running commit or image again, with the settings and variables of now. */
  redeploy(id: string): Promise<unknown>
  /** Starts the version of an execution again. A dry run is answered with its plan. */
  rollback(id: string, executionId: string, isDryRun: boolean): Promise<unknown>
}

const wish = (execution_id: string, dry_run: boolean) => ({ body: { execution_id }, query: { dry_run } })

/** The operations on versions of each kind of service. */
export const versionOperations: Readonly<Record<KindName, VersionOperations>> = {
  application: {
    redeploy: (applicationId) => api.redeployApplication({ applicationId }),
    rollback: (applicationId, ...of) => api.rollbackApplication({ applicationId, ...wish(...of) }),
  },
  container: {
    redeploy: (containerId) => api.redeployContainer({ containerId }),
    rollback: (containerId, ...of) => api.rollbackContainer({ containerId, ...wish(...of) }),
  },
  database: {
    redeploy: (databaseId) => api.redeployDatabase({ databaseId }),
    rollback: (databaseId, ...of) => api.rollbackDatabase({ databaseId, ...wish(...of) }),
  },
  job: {
    redeploy: (jobId) => api.redeployJob({ jobId }),
    rollback: (jobId, ...of) => api.rollbackJob({ jobId, ...wish(...of) }),
  },
  helm: {
    redeploy: (helmId) => api.redeployHelm({ helmId }),
    rollback: (helmId, ...of) => api.rollbackHelm({ helmId, ...wish(...of) }),
  },
  terraform: {
    redeploy: (terraformId) => api.redeployTerraform({ terraformId }),
    rollback: (terraformId, ...of) => api.rollbackTerraform({ terraformId, ...wish(...of) }),
  },
}

/** Asks for the effect of a rollback without doing it. */
export const rollbackPlan = async (kind: KindName, id: string, executionId: string): Promise<Plan> =>
  // A dry run is answered with the plan instead of the deployment.
  (await versionOperations[kind].rollback(id, executionId, true)) as Plan
