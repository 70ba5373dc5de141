/** Services as records: settings, rules and what the API answers of them. What runs of them is the deployments room's. */
export type { Ceiling } from './application-rules.ts'
export type { ApplicationBody, ApplicationChange, ApplicationSettings, PortSettings } from './application-settings.ts'
export {
  type DeployedCommit,
  deleteServiceRow,
  findService,
  listServices,
  lockService,
  type ServiceRow,
  serviceTarget,
} from './service-store.ts'
export { createServices } from './services.ts'
