import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

// The reads of jobs. Their keys begin with the environment, whose events report each run.

export type JobRun = Awaited<ReturnType<typeof api.listJobRuns>>['results'][number]
export type JobEvent = JobRun['event']

export interface JobPlace {
  readonly environmentId: string
  readonly serviceId: string
}

const aboutJob = ({ environmentId, serviceId }: JobPlace, what: string) =>
  ['environment', environmentId, 'job', serviceId, what] as const

export const jobRuns = (place: JobPlace) =>
  queryOptions({
    queryKey: aboutJob(place, 'runs'),
    queryFn: async () => (await api.listJobRuns({ jobId: place.serviceId })).results,
    staleTime: 0,
  })

/** The timetable that a job follows, with its next times. */
export const jobTimetable = (place: JobPlace) =>
  queryOptions({
    queryKey: aboutJob(place, 'timetable'),
    queryFn: () => api.getJobTimetable({ jobId: place.serviceId }),
    staleTime: 0,
  })

type Schedule = Awaited<ReturnType<typeof api.getJob>>['schedule']

/** Pure: the events for which a job has a program. */
export const eventsOf = (schedule: Schedule): readonly JobEvent[] => [
  ...(schedule.cronjob ? (['CRON'] as const) : []),
  ...(schedule.on_start ? (['START'] as const) : []),
  ...(schedule.on_stop ? (['STOP'] as const) : []),
  ...(schedule.on_delete ? (['DELETE'] as const) : []),
]

/** Pure: whether a run has not ended. */
export const isActive = ({ status }: JobRun): boolean => status === 'QUEUED' || status === 'RUNNING'

/** The templates of lifecycle jobs. They change with the version of the server only. */
export const lifecycleTemplates = (environmentId: string) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'lifecycle templates'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => (await api.listEnvironmentLifecycleTemplates({ environmentId })).results,
  })
