import type { Operation } from '@quayside/contract'
import { type KindName, serviceKinds } from '@quayside/contract/services/kinds.ts'
import type { TargetQuery } from '../access/index.ts'
import { environmentTarget, organizationTarget, projectTarget } from '../organizations/index.ts'
import { serviceTarget } from '../services/index.ts'

/** How the object that a path names first is found; of a service, only of the kind that the path names. */
export function targetQuery({ target, path }: Operation): TargetQuery | undefined {
  switch (target) {
    case 'caller':
      return undefined
    case 'organization':
      return organizationTarget
    case 'project':
      return projectTarget
    case 'environment':
      return environmentTarget
    case 'service':
      return serviceTarget(kindOf(path))
  }
}

function kindOf(path: string): KindName {
  const name = path.split('/')[1]
  const kind = kindNames.find((candidate) => candidate === name)
  if (!kind) throw new Error(`${path} names no kind of service`)
  return kind
}

/** The keys of the table; Object.keys forgets their type. */
const kindNames = Object.keys(serviceKinds) as KindName[]
