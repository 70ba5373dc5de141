/** Services as records: settings, rules and what the API answers of them. What runs of them is the deployments room's. */
export { type Clone, cloneService } from './clone.ts'
export { commitPage } from './commit-page.ts'
export { repositoriesOf } from './kind-settings.ts'
export { type LifecycleTemplate, lifecycleTemplatesOf } from './lifecycle-templates.ts'
export { listReferringServices } from './referring-store.ts'
export { createRepositoryAccess } from './repository-access.ts'
export { rewriteSettings } from './rewrite-settings.ts'
export { deleteServiceSecret } from './secret-store.ts'
export { openSecrets } from './secrets.ts'
export {
  type DeployedCommit,
  deleteServiceRow,
  findService,
  listAutoDeployed,
  listImageServices,
  listNaming,
  listServices,
  lockService,
  type ServiceOf,
  type ServiceRow,
  serviceTarget,
  setDataVersion,
  updateTag,
} from './service-store.ts'
export { createServices, type Parts, type ServicesOptions } from './services.ts'
export type {
  ApplicationBody,
  ApplicationChange,
  ApplicationSettings,
  RunningSettings,
} from './settings/application.ts'
export type { CreateBody, EditBody, Origin, RecordOf, Settings, SettingsOf } from './settings/branch.ts'
export { checkCron, checkTimezone } from './settings/cron.ts'
export { formerPasswordName, passwordName } from './settings/database.ts'
export { versionRefusal } from './settings/database-version.ts'
export type { PortSettings } from './settings/ports.ts'
export { readPublicPath, sharesHost } from './settings/public-path.ts'
export type { Repository } from './settings/repository.ts'
export { type Ceiling, checkTag } from './settings/rules.ts'
