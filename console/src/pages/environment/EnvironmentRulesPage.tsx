import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { environment } from '../../api/reads.ts'
import { clusters } from '../../api/reads-making.ts'
import { deploymentRule } from '../../api/reads-plan.ts'
import { projectRules } from '../../api/reads-rules.ts'
import { AsCurl } from '../../ui/AsCurl.tsx'
import { Button } from '../../ui/Button.tsx'
import { CheckField } from '../../ui/Field.tsx'
import { Section } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import plan from '../plan/Plan.module.css'
import { RuleList } from '../project/RuleList.tsx'
import { useMay } from '../use-may.ts'
import { EnvironmentFrame } from './EnvironmentFrame.tsx'
import type { EnvironmentParams } from './EnvironmentTabs.tsx'

/** The rules of an environment: its previews, and the rules of its project. */
export function EnvironmentRulesPage() {
  const params = useParams({ from: '/organizations/$organizationId/environments/$environmentId/rules' })
  return (
    <EnvironmentFrame params={params}>
      <Section title="Previews">
        <Previews environmentId={params.environmentId} />
      </Section>
      <RulesOfProject params={params} />
    </EnvironmentFrame>
  )
}

/** The flags of previews. The other members of the rule are sent as they are. */
function Previews({ environmentId }: { readonly environmentId: string }) {
  const { data: rule } = useSuspenseQuery(deploymentRule(environmentId))
  const stored = { auto_preview: rule.auto_preview, on_demand_preview: rule.on_demand_preview }
  const [flags, setFlags] = useState(stored)
  const { timezone, start_time, stop_time, weekdays, auto_stop, id: deploymentRuleId } = rule
  const save = useChange({
    change: () =>
      api.editEnvironmentDeploymentRule({
        environmentId,
        deploymentRuleId,
        body: { timezone, start_time, stop_time, weekdays, auto_stop, ...flags },
      }),
    makesOld: ['environment', environmentId],
  })
  const isSame = JSON.stringify(flags) === JSON.stringify(stored)
  const forbidden = useMay()('editEnvironmentDeploymentRule')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (!isSame && !save.isPending && !forbidden) save.mutate()
      }}
    >
      <p>These flags are stored for clients of the API. The platform makes no previews by itself.</p>
      <CheckField
        label="A preview of each pull request"
        isChecked={flags.auto_preview}
        onChange={(auto_preview) => setFlags({ ...flags, auto_preview })}
      />
      <CheckField
        label="A preview only when somebody asks for it"
        isChecked={flags.on_demand_preview}
        onChange={(on_demand_preview) => setFlags({ ...flags, on_demand_preview })}
      />
      <Problem error={save.error} />
      <div className={plan['actions']}>
        <Button
          type="submit"
          look="main"
          refusal={forbidden ?? (isSame ? 'nothing is changed' : undefined)}
          isBusy={save.isPending}
        >
          Save the flags
        </Button>
        {!isSame && <AsCurl preview={() => save.preview()} />}
        <span role="status">{isSame && save.isSuccess && 'Saved.'}</span>
      </div>
    </form>
  )
}

function RulesOfProject({ params }: { readonly params: EnvironmentParams }) {
  const { organizationId, environmentId } = params
  const { data: about } = useSuspenseQuery(environment(environmentId))
  const projectId = about.project.id
  const { data: rules, error } = useQuery(projectRules(projectId))
  const { data: places = [] } = useQuery(clusters(organizationId))
  const { data: own } = useSuspenseQuery(deploymentRule(environmentId))
  const { matching_project_rule_id: matching } = own
  const edit = (
    <Link to="/organizations/$organizationId/projects/$projectId/rules" params={{ organizationId, projectId }}>
      Edit in the project
    </Link>
  )
  return (
    <Section title="Rules of the project" actions={edit}>
      <p>The first rule that matches the name of a new environment sets its mode, cluster and hours.</p>
      <Problem error={error} />
      {rules && rules.length > 0 && !matching && <p>No rule matches the name “{about.name}”.</p>}
      {rules && (
        <RuleList
          rules={rules}
          clusterOf={(id) => places.find((place) => place.id === id)?.name ?? id}
          {...(matching && { marked: { id: matching, words: 'matches this environment' } })}
        />
      )}
    </Section>
  )
}
