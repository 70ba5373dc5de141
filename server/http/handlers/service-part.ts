import { settingsOfKind } from '@quayside/contract/services/advanced-settings.ts'
import { settingDefaults } from '@quayside/contract/services/setting-table.ts'
import type { Handlers } from '../call.ts'
import type { Browse } from './browsing.ts'
import type { Rooms } from './rooms.ts'

/** Handlers for advanced settings, deployment restrictions and custom domains of a service. */
export const servicePartHandlers = (
  { advancedSettings, restrictions, customDomains, uploads }: Rooms,
  browse: Browse,
) => {
  const idOf = (ids: readonly string[]): string => ids[0] ?? ''
  return {
    getDefaultAdvancedSettings: async ({ kind }) => settingDefaults(settingsOfKind(kind)),
    getAdvancedSettings: ({ target }) => advancedSettings.get(target),
    editAdvancedSettings: ({ target, body }) => advancedSettings.replace(target, body),
    getServiceNetwork: ({ target }) => advancedSettings.network(target),
    editServiceNetwork: ({ target, body }) => advancedSettings.editNetwork(target, body),

    listDeploymentRestrictions: async ({ target }) => ({ results: await restrictions.list(target.id) }),
    createDeploymentRestriction: ({ target, body }) => restrictions.create(target.id, body),
    editDeploymentRestriction: ({ target, ids, body }) => restrictions.edit(target.id, idOf(ids), body),
    deleteDeploymentRestriction: async ({ target, ids }) => void (await restrictions.remove(target.id, idOf(ids))),

    listCustomDomains: async ({ target }) => ({ results: await customDomains.list(target) }),
    createCustomDomain: ({ target, body }) => customDomains.create(target, body),
    getCustomDomain: ({ target, ids }) => customDomains.get(target, idOf(ids)),
    editCustomDomain: ({ target, ids, body }) => customDomains.edit(target, idOf(ids), body),
    deleteCustomDomain: async ({ target, ids }) => void (await customDomains.remove(target, idOf(ids))),
    uploadCustomDomainCertificate: async ({ target, ids, body }) => {
      await uploads.upload(target.id, idOf(ids), body)
      return customDomains.get(target, idOf(ids))
    },
    deleteCustomDomainCertificate: async ({ target, ids }) => {
      await uploads.remove(target.id, idOf(ids))
      return customDomains.get(target, idOf(ids))
    },
    checkCustomDomains: async ({ caller, target }) => ({
      results: await browse(caller, (signal) => customDomains.check(target, signal)),
    }),
  } satisfies Partial<Handlers>
}
