import { setGroups } from '../../../server/services/index.ts'
import type { Contribution } from '../fixture.ts'

const restricted = ['application', 'helm', 'job', 'terraform']
const named = ['application', 'container', 'helm']

/**
 * Adds one part of each type to every kind of service that can have it. Only the application gets
 * groups.
 */
export const addParts: Contribution = async ({ database, rooms, tenant, objects, suffix }) => {
  const { organizationId } = tenant
  const services: Readonly<Record<string, string>> = { ...objects.more, applicationId: objects.applicationId }
  const more: Record<string, string> = {}
  for (const kind of restricted) {
    const id = services[`${kind}Id`]
    if (id === undefined) continue
    const row = await rooms.restrictions.create(id, { mode: 'MATCH', type: 'PATH', value: 'src/' })
    more[`${kind}.deploymentRestrictionId`] = row.id
  }
  for (const kind of named) {
    const id = services[`${kind}Id`]
    if (id === undefined) continue
    const domain = `${kind}-${suffix}.example.com`
    const owner = { id, name: kind, organization_id: organizationId }
    const row = await rooms.customDomains.create(owner, { domain, generate_certificate: false })
    more[`${kind}.customDomainId`] = row.id
  }
  const labels = [{ key: 'team', value: 'shop', propagate_to_cloud_provider: true }]
  const annotations = await rooms.groups.create(organizationId, 'annotations', {
    name: `annotations ${suffix}`,
    entries: [{ key: 'example.com/owner', value: 'shop' }],
    scopes: ['PODS'],
  })
  const group = await rooms.groups.create(organizationId, 'labels', {
    name: `labels ${suffix}`,
    entries: labels,
    scopes: [],
  })
  const owner = { ownerId: objects.applicationId, organizationId }
  await setGroups(database, 'service', owner, { annotations_groups: [annotations], labels_groups: [group] })
  return { ...more, annotationsGroupId: annotations.id, labelsGroupId: group.id }
}
