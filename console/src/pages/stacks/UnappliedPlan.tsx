import { useQuery } from '@tanstack/react-query'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { type StackPlace, unappliedPlan } from '../../api/reads-stacks.ts'
import { Button } from '../../ui/Button.tsx'
import { Notice } from '../../ui/Notice.tsx'
import { Section } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { When } from '../../ui/When.tsx'
import { useMay } from '../use-may.ts'
import { PlanView } from './PlanView.tsx'
import styles from './Stacks.module.css'

/** The newest plan that was not applied, with the button that applies exactly it. */
export function UnappliedPlan({ place }: { readonly place: StackPlace }) {
  const { data: plan } = useQuery(unappliedPlan(place))
  const apply = useChange({
    change: (runId: string) => api.deployTerraform({ terraformId: place.serviceId, body: { plan_run_id: runId } }),
    makesOld: ['environment', place.environmentId],
  })
  const may = useMay()
  if (!plan) return null
  const { commit, is_current: isCurrent, changed_since: changed, run } = plan
  const since = `changed since then: ${changed.join(', ')}`
  const button = (
    <Button
      look="main"
      refusal={may('deployTerraform') ?? (isCurrent ? undefined : since)}
      isBusy={apply.isPending}
      onClick={() => apply.mutate(run.id)}
    >
      Apply this plan
    </Button>
  )
  return (
    <Section title="Plan that is not applied" actions={button}>
      <Problem error={apply.error} />
      {!isCurrent && <Notice>It is not applied any more: {since}. Make a plan again.</Notice>}
      <p className={styles['quiet']}>
        Made <When at={run.created_at} />
        {commit && (
          <>
            {' '}
            of <code>{commit.slice(0, 8)}</code>
          </>
        )}
        .
      </p>
      <PlanView plan={plan} />
    </Section>
  )
}
