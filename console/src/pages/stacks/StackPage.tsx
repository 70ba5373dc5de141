import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { isLocked, stackRuns } from '../../api/reads-stacks.ts'
import { Notice } from '../../ui/Notice.tsx'
import { Section } from '../../ui/Page.tsx'
import { ServiceFrame } from '../ServiceFrame.tsx'
import { Drift } from './Drift.tsx'
import { StackActions } from './StackActions.tsx'
import { StackOutputs } from './StackOutputs.tsx'
import { StackResources } from './StackResources.tsx'
import { StackRuns } from './StackRuns.tsx'
import { StackStates } from './StackStates.tsx'
import { UnappliedPlan } from './UnappliedPlan.tsx'

/** A Terraform stack: its plans, the versions of its state, its resources, outputs and drift. */
export function StackPage() {
  const params = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/stack',
  })
  const { environmentId, serviceId } = params
  const place = { environmentId, serviceId }
  const { data: runs } = useSuspenseQuery(stackRuns(place))
  return (
    <ServiceFrame params={params}>
      {() => (
        <>
          {isLocked(runs) && (
            <Notice>
              The last run was lost, so the stack is locked. Check its resources, and then force the lock open.
            </Notice>
          )}
          <UnappliedPlan place={place} />
          <Section title="Runs" actions={<StackActions {...{ place, runs }} />}>
            <StackRuns {...{ place, runs }} />
          </Section>
          <Section title="Resources">
            <StackResources place={place} />
          </Section>
          <Section title="Outputs">
            <StackOutputs place={place} />
          </Section>
          <Section title="Versions of the state">
            <StackStates {...{ place, runs }} />
          </Section>
          <Section title="Drift">
            <Drift place={place} />
          </Section>
        </>
      )}
    </ServiceFrame>
  )
}
