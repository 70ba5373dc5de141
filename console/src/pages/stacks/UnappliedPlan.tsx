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

/** The newest plan that was not applied, with the button that applies it. */
export function UnappliedPlan({ place }: { readonly place: StackPlace }) {
  const { data: plan } = useQuery(unappliedPlan(place))
  const apply = useChange({
    change: (commit: string) => api.deployTerraform({ terraformId: place.serviceId, body: { git_commit_id: commit } }),
    makesOld: ['environment', place.environmentId],
  })
  const may = useMay()
  if (!plan) return null
  const { commit, is_current: isCurrent, run } = plan
  const refusal = may('deployTerraform') ?? (commit ? undefined : 'its commit is not known')
  const button = (
    <Button look="main" refusal={refusal} isBusy={apply.isPending} onClick={() => commit && apply.mutate(commit)}>
      Apply this plan
    </Button>
  )
  return (
    <Section title="Plan that is not applied" actions={button}>
      <Problem error={apply.error} />
      {!isCurrent && (
        <Notice>Settings or variables have changed since. An apply makes the plan again with them.</Notice>
      )}
      <p className={styles['quiet']}>
        Made <When at={run.created_at} />
        {commit && (
          <>
            {' '}
            of <code>{commit.slice(0, 8)}</code>
          </>
        )}
        . An apply plans that commit again and applies exactly the result.
      </p>
      <PlanView plan={plan} />
    </Section>
  )
}
