import { useParams } from '@tanstack/react-router'
import { scopeOf } from '../api/reads-variables.ts'
import { Missing } from './Failed.tsx'
import { ServiceFrame } from './ServiceFrame.tsx'
import { Variables } from './Variables.tsx'

/** The variables that a service sees. */
export function ServiceVariablesPage() {
  const params = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/variables',
  })
  const scope = scopeOf[params.kind]
  if (!scope) return <Missing />
  return <ServiceFrame params={params}>{({ id }) => <Variables place={{ scope, parentId: id }} />}</ServiceFrame>
}
