/**
 * Services as records: settings, rules, groups of labels and annotations, deployment restrictions,
 * autoscaling.
 */
export { createAdvancedSettings } from './advanced-settings.ts'
export { autoscalingRefusal, type EventPolicy, type EventsOf, eventPolicyOf } from './autoscaling.ts'
export { type Clone, cloneService } from './clone.ts'
export { commitPage } from './commit-page.ts'
export { createRedeclarer } from './declare-again.ts'
export type { GroupKind } from './group-store.ts'
export { annotationsGroupRecord, createGroups, labelsGroupRecord } from './groups.ts'
export { repositoriesOf } from './kind-settings.ts'
export { lifecycleTemplatesOf } from './lifecycle-templates.ts'
export { clusterLabelsReader, setGroups, type Tags, tagsOf } from './owners.ts'
export { copyServiceParts, partsOf, setParts } from './parts.ts'
export { pushedAction } from './pushed-action.ts'
export { listReferringServices } from './referring-store.ts'
export { createRepositoryAccess } from './repository-access.ts'
export { listRestrictionsOf, type RestrictionValues } from './restriction-store.ts'
export { createRestrictions } from './restrictions.ts'
export { rewriteSettings } from './rewrite-settings.ts'
export { deleteServiceSecret } from './secret-store.ts'
export { openSecrets } from './secrets.ts'
export {
  deleteServiceRow,
  findService,
  listAutoDeployed,
  listImageServices,
  listNaming,
  listServices,
  lockService,
  type ServiceRow,
  serviceTarget,
  setDataVersion,
  updateTag,
} from './service-store.ts'
export { createServices, type ServicesOptions } from './services.ts'
export type { ApplicationBody, ApplicationSettings, RunningSettings } from './settings/application.ts'
export type { CreateBody, Origin, RecordOf, Settings, SettingsOf } from './settings/branch.ts'
export { checkCron } from './settings/cron.ts'
export { formerPasswordName, passwordName } from './settings/database.ts'
export { versionRefusal } from './settings/database-version.ts'
export type { HelmSettings } from './settings/helm.ts'
export { isRouted, type PortSettings } from './settings/ports.ts'
export { readPublicPath, sharesHost } from './settings/public-path.ts'
export type { Repository } from './settings/repository.ts'
export { checkTag } from './settings/rules.ts'
export { secretName as stackSecretName } from './settings/terraform.ts'
export { type Change, enterQueue, queuedStateOf, reportUnlisted, writeState } from './state-store.ts'
