import type { ServiceRow } from './service-store.ts'

/** Returns what a push does with a service that is deployed automatically. */
export const pushedAction = ({ kind, settings }: Pick<ServiceRow, 'kind' | 'settings'>): 'DEFAULT' | 'PLAN' | 'NOOP' =>
  kind === 'terraform' && 'auto_deploy_config' in settings ? settings.auto_deploy_config.terraform_action : 'DEFAULT'
