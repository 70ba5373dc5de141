import type { Handlers } from '../call.ts'
import { anyVariableHandlers } from './any-variable.ts'
import { backupHandlers } from './backup.ts'
import { createBrowsing } from './browsing.ts'
import { catalogueHandlers } from './catalogue.ts'
import { clusterHandlers } from './cluster.ts'
import { credentialsHandlers } from './credentials.ts'
import { environmentHandlers } from './environment.ts'
import { environmentDeploymentHandlers } from './environment-deployment.ts'
import { environmentPlanHandlers } from './environment-plan.ts'
import { gitHandlers } from './git.ts'
import { gitProviderHandlers } from './git-provider.ts'
import { gitWebhookHandlers } from './git-webhook.ts'
import { groupHandlers } from './group.ts'
import { kindHandlers } from './kind.ts'
import { memberHandlers } from './member.ts'
import { organizationHandlers } from './organization.ts'
import { organizationEventHandlers } from './organization-event.ts'
import { registryHandlers } from './registry.ts'
import type { Rooms } from './rooms.ts'
import { serviceHandlers } from './service.ts'
import { servicePartHandlers } from './service-part.ts'
import { stackHandlers } from './stack.ts'
import { trafficHandlers } from './traffic.ts'
import { variableHandlers } from './variable.ts'
import { variableImportHandlers } from './variable-import.ts'

/** Returns one function for every handler name of the contract. The type reports a missing one. */
export const createHandlers = (rooms: Rooms, browse = createBrowsing()): Handlers => ({
  ...organizationHandlers(rooms),
  ...organizationEventHandlers(rooms),
  ...memberHandlers(rooms),
  ...environmentHandlers(rooms),
  ...environmentPlanHandlers(rooms),
  ...environmentDeploymentHandlers(rooms),
  ...serviceHandlers(rooms),
  ...kindHandlers(rooms, browse),
  ...stackHandlers(rooms),
  ...backupHandlers(rooms),
  ...clusterHandlers(rooms),
  ...credentialsHandlers(rooms),
  ...catalogueHandlers(rooms),
  ...servicePartHandlers(rooms, browse),
  ...groupHandlers(rooms),
  ...variableHandlers(rooms),
  ...anyVariableHandlers(rooms),
  ...variableImportHandlers(rooms),
  ...registryHandlers(rooms, browse),
  ...gitHandlers(rooms, browse),
  ...gitProviderHandlers(rooms, browse),
  ...gitWebhookHandlers(rooms),
  ...trafficHandlers(rooms),
})

export type { Rooms } from './rooms.ts'
