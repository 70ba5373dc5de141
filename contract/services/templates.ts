import { advancedSettingsTemplates } from '../resources/advanced-settings.ts'
import { chartCommitTemplates, commitTemplates, contributorTemplates } from '../resources/commit.ts'
import {
  customDomainTemplates,
  domainCertificateTemplates,
  singleCustomDomainTemplates,
} from '../resources/custom-domain.ts'
import { historyTemplates } from '../resources/deployment-history.ts'
import { deploymentRestrictionTemplates } from '../resources/deployment-restriction.ts'
import { networkTemplates } from '../resources/network.ts'
import { importTemplates } from '../resources/variable-import.ts'
import { variableOperations } from '../resources/variable-operations.ts'
import { backupTemplates } from './backup-operations.ts'
import {
  deploymentTemplates,
  deployTemplates,
  restartTemplates,
  rollbackTemplates,
  stopTemplates,
} from './deployment-operations.ts'
import type { KindName } from './kinds.ts'
import { pathOf } from './on-service.ts'
import { linkTemplates, logTemplates, statusTemplates } from './reading-operations.ts'
import { listTemplates, recordTemplates } from './record-operations.ts'
import { chartTemplates, databaseTemplates, imageTemplates, jobTemplates } from './special-templates.ts'
import { stackTemplates } from './stack-operations.ts'

/**
 * Returns every operation that a kind of service can have, by the sections of the matrix. Which of
 * them it has is a cell of `matrix.ts`. In their names, `{Kind}`, `{Short}` and `{Listed}` become
 * the nouns of the kind.
 */
export const templatesOf = <const N extends KindName>(name: N) => ({
  commits: commitTemplates(name),
  chartCommits: chartCommitTemplates(name),
  contributors: contributorTemplates(name),
  history: historyTemplates(name),
  services: {
    ...listTemplates(name),
    ...recordTemplates(name),
    ...statusTemplates(name),
    ...deployTemplates(name),
    ...deploymentTemplates(name),
    ...rollbackTemplates(name),
    ...stopTemplates(name),
    ...restartTemplates(name),
    ...logTemplates(name),
    ...linkTemplates(name),
  },
  databases: databaseTemplates(name),
  charts: chartTemplates(name),
  stacks: stackTemplates(name),
  jobs: jobTemplates(name),
  images: imageTemplates(name),
  backups: backupTemplates(name),
  variables: variableOperations('{Kind}', pathOf(name), 'service', name),
  imports: importTemplates(name),
  advancedSettings: advancedSettingsTemplates(name),
  restrictions: deploymentRestrictionTemplates(name),
  customDomains: customDomainTemplates(name),
  singleCustomDomains: singleCustomDomainTemplates(name),
  domainCertificates: domainCertificateTemplates(name),
  networks: networkTemplates(name),
})

/** The operations of one kind, by section and template. */
export type Templates<N extends KindName> = ReturnType<typeof templatesOf<N>>
export type Section = keyof Templates<'application'>
