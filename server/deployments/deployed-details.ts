import type { Json } from '../lib/json.ts'

type Members = Readonly<Record<string, Json | undefined>>

/** What the settings of a release say of where it came from and how it was started; absent what its kind does not have. */
export interface DeployedDetails {
  readonly image_name?: string
  readonly tag?: string
  readonly arguments?: string[]
  readonly entrypoint?: string
  readonly schedule?: { readonly event: ScheduleEvent; readonly schedule_at: string | null }
  readonly repository: { readonly chart_name: string; readonly chart_version: string } | null
}
type ScheduleEvent = 'ON_START' | 'ON_STOP' | 'ON_DELETE' | 'CRON'

/** Pure: reads settings of any kind of service, null where there was no release. */
export function deployedDetails(settings: Members | null): DeployedDetails {
  const source = members(settings?.['source'])
  const image = { ...members(source['image']), ...settings }
  const chart = members(source['helm_repository'])
  const schedule = scheduleOf(members(settings?.['schedule']))
  return {
    ...texts(image, 'image_name', 'tag'),
    ...started({ ...settings, ...schedule?.started }),
    ...(schedule && { schedule: { event: schedule.event, schedule_at: schedule.at } }),
    repository:
      typeof chart['chart_name'] === 'string'
        ? { chart_name: chart['chart_name'], chart_version: String(chart['chart_version'] ?? '') }
        : null,
  }
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

const events = [
  ['cronjob', 'CRON'],
  ['on_start', 'ON_START'],
  ['on_stop', 'ON_STOP'],
  ['on_delete', 'ON_DELETE'],
] as const

/** The first that the schedule has. */
function scheduleOf(schedule: Members): { event: ScheduleEvent; at: string | null; started: Members } | undefined {
  for (const [name, event] of events) {
    const found = schedule[name]
    if (typeof found !== 'object' || found === null) continue
    const entry = members(found)
    return { event, at: typeof entry['scheduled_at'] === 'string' ? entry['scheduled_at'] : null, started: entry }
  }
  return undefined
}
