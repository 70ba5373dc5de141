import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { clusters } from '../../api/reads-making.ts'
import { type ProjectRule, projectRules } from '../../api/reads-rules.ts'
import { Button } from '../../ui/Button.tsx'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { Section } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { useMay } from '../use-may.ts'
import { ProjectFrame, type ProjectParams } from './ProjectFrame.tsx'
import { RuleForm } from './RuleForm.tsx'
import { RuleList } from './RuleList.tsx'

/** The deployment rules of a project: what new environments get by their names. */
export function ProjectRulesPage() {
  const params = useParams({ from: '/organizations/$organizationId/projects/$projectId/rules' })
  return <ProjectFrame params={params}>{() => <Rules params={params} />}</ProjectFrame>
}

type Open = { readonly act: 'new' } | { readonly act: 'edit' | 'delete'; readonly rule: ProjectRule }

function Rules({ params }: { readonly params: ProjectParams }) {
  const { organizationId, projectId } = params
  const { data: rules } = useSuspenseQuery(projectRules(projectId))
  const { data: places } = useSuspenseQuery(clusters(organizationId))
  const [open, setOpen] = useState<Open>()
  const close = (): void => setOpen(undefined)
  const makesOld = ['project', projectId]
  const order = useChange({
    change: (ids: readonly string[]) =>
      api.updateDeploymentRulesPriorityOrder({ projectId, body: { project_deployment_rule_ids_in_order: [...ids] } }),
    makesOld,
  })
  const remove = useChange({
    change: (deploymentRuleId: string) => api.deleteProjectDeploymentRule({ projectId, deploymentRuleId }),
    makesOld,
    onDone: close,
  })
  const forbidden = useMay({ projectId })('createDeploymentRule')
  const move = (place: number, other: number): void =>
    order.mutate(
      moved(
        rules.map(({ id }) => id),
        place,
        other,
      ),
    )
  return (
    <Section
      title="Deployment rules"
      actions={
        <Button refusal={forbidden} onClick={() => setOpen({ act: 'new' })}>
          New rule
        </Button>
      }
    >
      <p>A new environment gets its mode, cluster and hours from the first rule that matches its name.</p>
      <Problem error={order.error} />
      <RuleList
        rules={rules}
        clusterOf={(id) => places.find((place) => place.id === id)?.name ?? 'a deleted cluster'}
        actionsOf={(rule, place) => (
          <>
            <Button
              label={`Move ${rule.name} up`}
              refusal={forbidden ?? (place === 0 ? 'it is the first rule' : undefined)}
              onClick={() => move(place, place - 1)}
            >
              ↑
            </Button>
            <Button
              label={`Move ${rule.name} down`}
              refusal={forbidden ?? (place === rules.length - 1 ? 'it is the last rule' : undefined)}
              onClick={() => move(place, place + 1)}
            >
              ↓
            </Button>
            <Button label={`Edit ${rule.name}`} refusal={forbidden} onClick={() => setOpen({ act: 'edit', rule })}>
              Edit
            </Button>
            <Button label={`Delete ${rule.name}`} refusal={forbidden} onClick={() => setOpen({ act: 'delete', rule })}>
              Delete
            </Button>
          </>
        )}
      />
      {open?.act === 'new' && <RuleForm params={params} onClose={close} />}
      {open?.act === 'edit' && <RuleForm params={params} rule={open.rule} onClose={close} />}
      {open?.act === 'delete' && (
        <ConfirmDialog
          noun="rule"
          name={open.rule.name}
          losses={['the rule. Environments keep the mode and the hours that they got from it']}
          isBusy={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate(open.rule.id)}
          preview={() => remove.preview(open.rule.id)}
          onClose={close}
        />
      )}
    </Section>
  )
}

/** Pure: a list in which the item of one place is at another one. */
function moved<T>(list: readonly T[], from: number, to: number): readonly T[] {
  const item = list.slice(from, from + 1)
  return list.toSpliced(from, 1).toSpliced(to, 0, ...item)
}
