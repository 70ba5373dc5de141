import type { StreamEvent } from '@quayside/client/events.ts'

type Keys = readonly (readonly string[])[]

/**
 * Pure: the beginnings of the keys of all reads that an event of the stream makes old. A record
 * that is seen at several places makes all of them old: variables of a project are visible in its
 * environments and services.
 */
export function keysOf(organizationId: string, { type, data }: StreamEvent): Keys {
  // After a time away, everything may have changed.
  if (type === 'reset') return [[]]
  const all = ['organization', organizationId]
  const [projects, clusters] = [
    [...all, 'projects'],
    [...all, 'clusters'],
  ]
  const { environment_id: environment, project_id: project } = data
  if (typeof environment === 'string') {
    const own = ['environment', environment]
    if (type === 'service.changed') return [own, ['variables']]
    return type === 'environment.changed' ? [own, ['variables'], projects] : [own, projects]
  }
  if (type === 'project.changed') return [['project', String(project)], ['environment'], ['variables'], projects]
  if (type === 'organization.changed') return [all, ['organizations']]
  return type === 'cluster.status' || type === 'cluster.changed' ? [clusters] : []
}
