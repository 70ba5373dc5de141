import { type Action, refusal } from '@quayside/contract/states.ts'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { kinds } from '../api/kinds.ts'
import { environment, links, services, stageNames, stages } from '../api/reads.ts'
import { stageRows } from '../api/stage-rows.ts'
import { Button } from '../ui/Button.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Page, Section } from '../ui/Page.tsx'
import { Problem } from '../ui/Problem.tsx'
import { State } from '../ui/State.tsx'
import { relativeTime } from '../ui/time.ts'
import { Missing } from './Failed.tsx'
import { OutOfDate } from './OutOfDate.tsx'
import { ServiceHistory } from './ServiceHistory.tsx'
import { ServiceLines } from './ServiceLines.tsx'
import styles from './ServicePage.module.css'
import { ServiceTabs } from './ServiceTabs.tsx'

/** A service: its state in words, its addresses, its deployments and its lines. */
export function ServicePage() {
  const { organizationId, environmentId, kind, serviceId } = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId',
  })
  const { data: about } = useSuspenseQuery(environment(environmentId))
  const { data: statuses } = useSuspenseQuery(stages(environmentId))
  const { data: names } = useSuspenseQuery(stageNames(environmentId))
  const { data: list } = useSuspenseQuery(services(environmentId))
  const { data: addresses } = useSuspenseQuery(links(environmentId))
  const row = stageRows(statuses, names, list)
    .flatMap((stage) => stage.services)
    .find(({ id }) => id === serviceId)
  if (!row) return <Missing />
  const { name, status } = row
  const urls = addresses.filter(({ service_id }) => service_id === serviceId)
  const place = {
    organization: organizationId,
    cluster: about.cluster_id,
    project: about.project.id,
    environment: environmentId,
    service: serviceId,
  }
  return (
    <Page
      title={name}
      above={
        <>
          <Link to="/organizations/$organizationId" params={{ organizationId }}>
            Projects
          </Link>
          <Link
            to="/organizations/$organizationId/environments/$environmentId"
            params={{ organizationId, environmentId }}
          >
            {about.name}
          </Link>
        </>
      }
      beside={<State state={status.state} />}
      actions={<Actions {...{ kind, serviceId, status }} />}
    >
      <ServiceTabs {...{ organizationId, environmentId, kind, serviceId }} />
      {status.service_deployment_status === 'NEVER_DEPLOYED' && status.state === 'READY' && (
        <Notice>It is not deployed yet. Press Deploy, and it runs in a moment.</Notice>
      )}
      <OutOfDate environmentId={environmentId} serviceId={serviceId} />
      <p>
        {kinds[kind].noun}
        {status.last_deployment_date && `, deployed ${relativeTime(status.last_deployment_date, Date.now())}`}
      </p>
      {status.reason && <p className={styles['reason']}>{status.reason}</p>}
      {urls.length > 0 && (
        <Section title="Addresses">
          <ul className={styles['addresses']}>
            {urls.map(({ url }) => (
              <li key={url}>
                <a href={url} target="_blank" rel="noreferrer">
                  {url}
                </a>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <ServiceHistory {...{ environmentId, kind, serviceId }} />
      <ServiceLines place={place} />
    </Page>
  )
}

type ActionsProps = Parameters<typeof ServiceHistory>[0] & { readonly status: { readonly state: string } }

function Actions({ kind, serviceId, status }: Omit<ActionsProps, 'environmentId'>) {
  const operations = kinds[kind]
  const act = useMutation({ mutationFn: (work: (id: string) => Promise<unknown>) => work(serviceId) })
  // The state comes from the contract, whose type is wider than the states of a service.
  const why = (action: Action) => refusal(action, status.state as Parameters<typeof refusal>[1])
  return (
    <>
      <Problem error={act.error} />
      {operations.stop && (
        <Button
          refusal={why('STOP')}
          isBusy={act.isPending}
          onClick={() => operations.stop && act.mutate(operations.stop)}
        >
          Stop
        </Button>
      )}
      {operations.restart && (
        <Button
          refusal={why('RESTART')}
          isBusy={act.isPending}
          onClick={() => operations.restart && act.mutate(operations.restart)}
        >
          Restart
        </Button>
      )}
      <Button look="main" refusal={why('DEPLOY')} isBusy={act.isPending} onClick={() => act.mutate(operations.deploy)}>
        Deploy
      </Button>
    </>
  )
}
