import { lifecycleTemplatesOf } from '../../../server/services/index.ts'
import { canaryOf } from '../canary.ts'
import type { Contribution } from '../fixture.ts'

/** A registry and a Helm repository with a secret each; nothing uses them. */
export const addGitObjects: Contribution = async ({ rooms, tenant, objects, suffix }) => {
  const { containerRegistries, helmRepositories } = rooms.registries
  const config = { username: 'robot', password: canaryOf(tenant) }
  const registry = await containerRegistries.create(tenant.organizationId, {
    name: `registry ${suffix}`,
    kind: 'GENERIC_CR',
    url: 'https://registry.invalid',
    config,
  })
  const repository = await helmRepositories.create(tenant.organizationId, {
    name: `charts ${suffix}`,
    kind: 'HTTPS',
    url: 'https://charts.invalid/stable',
    skip_tls_verification: false,
    config,
  })
  return {
    containerRegistryId: registry.id,
    helmRepositoryId: repository.id,
    serviceId: objects.applicationId,
    lifecycleTemplateId: lifecycleTemplatesOf(tenant.organizationId)[0]?.id ?? '',
  }
}
