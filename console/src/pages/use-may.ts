import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { environment } from '../api/reads.ts'
import { type OperationName, ownRights, type Place, whyNot } from '../api/rights.ts'

/**
 * Returns a function that says why the person may not call operations of the API here. The place is
 * the project, environment or organization in the address of the page, unless it is given.
 */
export function useMay(given?: Place): (...names: readonly OperationName[]) => string | undefined {
  const { organizationId = '', projectId, environmentId } = useParams({ strict: false })
  const { data: rights } = useSuspenseQuery(ownRights(organizationId))
  const isInside = environmentId !== undefined
  const { data: about } = useQuery({ ...environment(environmentId ?? ''), enabled: isInside })
  const place = given ?? (about ? { projectId: about.project.id, mode: about.mode } : { projectId })
  return (...names) => {
    for (const name of names) {
      const reason = whyNot(rights, name, place)
      if (reason !== undefined) return reason
    }
    return undefined
  }
}
