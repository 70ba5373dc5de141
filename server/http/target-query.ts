import type { Operation } from '@quayside/contract'
import { type KindName, serviceKinds } from '@quayside/contract/services/kinds.ts'
import type { TargetQuery } from '../access/index.ts'
import { clusterTarget } from '../clusters/index.ts'
import { stageTarget } from '../environments/index.ts'
import { deploymentRequestTarget } from '../history/index.ts'
import { environmentTarget, organizationTarget, projectTarget } from '../organizations/index.ts'
import { serviceTarget } from '../services/index.ts'
import { variableTarget } from '../variables/index.ts'

/**
 * Returns how to find the object that a path names first. A service is found only if it is of the
 * operation's kind.
 */
export function targetQuery({ target, kind }: Operation): TargetQuery | undefined {
  switch (target) {
    case 'caller':
      return undefined
    case 'organization':
      return organizationTarget
    case 'project':
      return projectTarget
    case 'environment':
      return environmentTarget
    case 'stage':
      return stageTarget
    case 'deploymentRequest':
      return deploymentRequestTarget
    case 'service':
      return serviceTarget(kind === undefined ? undefined : kindOf(kind))
    case 'variable':
      return variableTarget
    case 'cluster':
      return clusterTarget
  }
}

function kindOf(name: string): KindName {
  const kind = kindNames.find((candidate) => candidate === name)
  if (!kind) throw new Error(`"${name}" is not a kind of service`)
  return kind
}

/** The keys of the table. Object.keys loses their type. */
const kindNames = Object.keys(serviceKinds) as KindName[]
