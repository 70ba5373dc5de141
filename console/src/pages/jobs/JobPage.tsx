import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { services } from '../../api/reads.ts'
import { eventsOf, jobRuns } from '../../api/reads-jobs.ts'
import { Section } from '../../ui/Page.tsx'
import { Missing } from '../Failed.tsx'
import { ServiceFrame } from '../ServiceFrame.tsx'
import { JobActions } from './JobActions.tsx'
import { JobRuns } from './JobRuns.tsx'
import { JobTimes } from './JobTimes.tsx'

/** The runs of a job, and the times of the next ones. */
export function JobPage() {
  const params = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/runs',
  })
  const { environmentId, serviceId } = params
  const place = { environmentId, serviceId }
  const { data: list } = useSuspenseQuery(services(environmentId))
  const { data: runs } = useSuspenseQuery(jobRuns(place))
  const job = list.find(({ id }) => id === serviceId)
  if (job?.service_type !== 'JOB') return <Missing />
  const { schedule } = job
  return (
    <ServiceFrame params={params}>
      {(_, logs) => (
        <>
          {schedule.cronjob && (
            <Section title="Next times">
              <JobTimes {...{ place, cronjob: schedule.cronjob }} />
            </Section>
          )}
          <Section title="Runs" actions={<JobActions {...{ place, runs }} events={eventsOf(schedule)} />}>
            <JobRuns {...{ runs, place, logs }} />
          </Section>
        </>
      )}
    </ServiceFrame>
  )
}
