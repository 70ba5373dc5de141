import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { environment, services } from '../../api/reads.ts'
import { eventsOf, jobRuns } from '../../api/reads-jobs.ts'
import { Page, Section } from '../../ui/Page.tsx'
import { Missing } from '../Failed.tsx'
import { OutOfDate } from '../OutOfDate.tsx'
import { ServiceTabs } from '../ServiceTabs.tsx'
import { JobActions } from './JobActions.tsx'
import { JobRuns } from './JobRuns.tsx'
import { JobTimes } from './JobTimes.tsx'

/** The runs of a job, and the times of the next ones. */
export function JobPage() {
  const params = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/runs',
  })
  const { organizationId, environmentId, serviceId } = params
  const place = { environmentId, serviceId }
  const { data: about } = useSuspenseQuery(environment(environmentId))
  const { data: list } = useSuspenseQuery(services(environmentId))
  const { data: runs } = useSuspenseQuery(jobRuns(place))
  const job = list.find(({ id }) => id === serviceId)
  if (job?.service_type !== 'JOB') return <Missing />
  const logs = { organization: organizationId, cluster: about.cluster_id, project: about.project.id }
  return (
    <Page title={job.name} actions={<JobActions {...{ place, runs }} events={eventsOf(job.schedule)} />}>
      <ServiceTabs {...params} />
      <OutOfDate {...place} />
      {job.schedule.cronjob && (
        <Section title="Next times">
          <JobTimes {...{ place, cronjob: job.schedule.cronjob }} />
        </Section>
      )}
      <Section title="Runs">
        <JobRuns {...{ runs, place }} logs={{ ...logs, environment: environmentId, service: serviceId }} />
      </Section>
    </Page>
  )
}
