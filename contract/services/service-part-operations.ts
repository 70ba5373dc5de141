import { advancedSettingsOperations } from '../resources/advanced-settings.ts'
import { customDomainOperations, singleCustomDomainOperations } from '../resources/custom-domain.ts'
import { deploymentRestrictionOperations } from '../resources/deployment-restriction.ts'
import { networkOperations } from '../resources/network.ts'

/** The operations on parts of services, for the kinds that have them. */
export const servicePartOperations = {
  ...advancedSettingsOperations('Application', '', 'application'),
  ...advancedSettingsOperations('Container', 'Container', 'container'),
  ...advancedSettingsOperations('Helm', 'Helm', 'helm'),
  ...advancedSettingsOperations('Job', 'Job', 'job'),
  ...advancedSettingsOperations('Terraform', 'Terraform', 'terraform'),
  ...deploymentRestrictionOperations('Application', 'application'),
  ...deploymentRestrictionOperations('Helm', 'helm'),
  ...deploymentRestrictionOperations('Job', 'job'),
  ...deploymentRestrictionOperations('Terraform', 'terraform'),
  ...customDomainOperations('Application', '', 'application'),
  ...customDomainOperations('Container', 'Container', 'container'),
  ...customDomainOperations('Helm', 'Helm', 'helm'),
  ...singleCustomDomainOperations,
  ...networkOperations('Application', 'application'),
  ...networkOperations('Container', 'container'),
} as const
