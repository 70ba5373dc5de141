import type { Action } from '@quayside/contract/states.ts'
import type { JobEvent } from '../jobs/index.ts'
import type { Json } from '../lib/json.ts'
import { memberOf } from '../releases/index.ts'

type Members = Readonly<Record<string, Json | undefined>>

/**
 * The origin and start of a release according to its settings. Details its kind lacks are absent.
 */
interface Details {
  readonly image_name?: string
  readonly tag?: string
  readonly arguments?: string[]
  readonly entrypoint?: string
}
interface Chart {
  readonly chart_name: string
  readonly chart_version: string
}

export interface DeployedDetails extends Details {
  readonly schedule?: { readonly event: ScheduleEvent; readonly schedule_at: string | null }
  readonly repository: Chart | null
}
const eventNames = { START: 'ON_START', STOP: 'ON_STOP', DELETE: 'ON_DELETE', CRON: 'CRON' } as const
type ScheduleEvent = (typeof eventNames)[JobEvent]

/** The action on a service, and its settings then. Null if there was no release. */
interface Deployed {
  readonly settings: Members | null
  readonly action: Action
  readonly force_event: JobEvent | null
}

/** Pure: reads settings of any kind of service. For a job, adds what was run, if anything. */
export function deployedDetails({ settings, action, force_event }: Deployed): DeployedDetails {
  const schedule = members(settings?.['schedule'])
  const event = force_event ?? eventOf(action, isObject(schedule['cronjob']))
  const ran = event && schedule[memberOf(event)]
  return {
    ...imageOf(settings),
    ...started({ ...settings, ...members(ran) }),
    ...(event &&
      isObject(ran) && {
        schedule: { event: eventNames[event], schedule_at: texts(ran, 'scheduled_at').scheduled_at ?? null },
      }),
    repository: chartOf(settings) ?? null,
  }
}

/** Returns the job event of an action. A cron job always has `CRON`. */
function eventOf(action: Action, isCron: boolean): JobEvent | undefined {
  if (isCron) return 'CRON'
  if (action === 'RESTART') return undefined
  if (action === 'DEPLOY') return 'START'
  return action === 'STOP' ? 'STOP' : 'DELETE'
}

/**
 * The details in the newer format, in addition to the commit. Jobs have their whole schedule; built
 * services and databases have no details.
 */
export interface HistoryDetails extends Details {
  readonly schedule?: JobSchedule
  readonly job_type?: 'CRON' | 'LIFECYCLE'
  readonly repository?: Chart
}
interface Run {
  readonly arguments: string[]
  readonly entrypoint?: string
}
interface JobSchedule {
  readonly on_start?: Run
  readonly on_stop?: Run
  readonly on_delete?: Run
  readonly cron_job?: Run & { readonly scheduled_at: string; readonly timezone: string }
  readonly lifecycle_type?: string
}

/** Pure: reads settings of any kind of service. */
export function historyDetails(settings: Members | null): HistoryDetails {
  const [image, repository] = [imageOf(settings), chartOf(settings)]
  if (isObject(settings?.['schedule'])) return { ...image, ...scheduled(settings['schedule']) }
  return {
    ...image,
    ...(image.image_name !== undefined && started({ ...settings })),
    ...(repository && { repository }),
  }
}

function scheduled({ cronjob, ...events }: Members): Pick<HistoryDetails, 'schedule' | 'job_type'> {
  const schedule: Members = isObject(cronjob) ? { ...events, cron_job: cronjob } : events
  // The contract has checked these settings of a job.
  return { schedule: schedule as JobSchedule, job_type: isObject(cronjob) ? 'CRON' : 'LIFECYCLE' }
}

/** Returns the members of a container, or of a job's source. */
function imageOf(settings: Members | null): Pick<Details, 'image_name' | 'tag'> {
  return texts({ ...members(members(settings?.['source'])['image']), ...settings }, 'image_name', 'tag')
}

function chartOf(settings: Members | null): Chart | undefined {
  const { chart_name, chart_version } = members(members(settings?.['source'])['helm_repository'])
  return typeof chart_name === 'string' ? { chart_name, chart_version: String(chart_version ?? '') } : undefined
}

const members = (value: Json | undefined): Members => (isObject(value) ? value : {})
const isObject = (value: Json | undefined): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const texts = <K extends string>(from: Members, ...names: K[]): Partial<Record<K, string>> =>
  Object.fromEntries(names.flatMap((name) => (typeof from[name] === 'string' ? [[name, from[name]]] : []))) as Partial<
    Record<K, string>
  > // the names are those given

function started(from: Members): { arguments?: string[]; entrypoint?: string } {
  const list = from['arguments']
  return {
    ...(Array.isArray(list) ? { arguments: list.filter((one) => typeof one === 'string') } : {}),
    ...texts(from, 'entrypoint'),
  }
}
