import { Link } from '@tanstack/react-router'
import type { ServicePlace } from '../api/follow-lines.ts'
import { Lines } from '../ui/Lines.tsx'
import { Section } from '../ui/Page.tsx'
import type { ServiceParams } from './ServiceTabs.tsx'
import { useLines } from './use-lines.ts'

interface ServiceLinesProps {
  readonly params: ServiceParams
  readonly place: ServicePlace
}

/** The last lines of a service as they are printed, and the way to all of them. */
export function ServiceLines({ params, place }: ServiceLinesProps) {
  const [store] = useLines(place, {})
  const all = (
    <Link to="/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/lines" params={params}>
      All lines
    </Link>
  )
  return (
    <Section title="Lines" actions={all}>
      <Lines store={store} label="Lines of the service" />
    </Section>
  )
}
