import { type Draft, valueAt } from './draft.ts'
import type { FieldSpec, ShapeSpec } from './fields.ts'
import { programFields } from './service-parts.ts'

const timetable = (path: string): readonly FieldSpec[] => [
  {
    path: `${path}scheduled_at`,
    label: 'Timetable',
    type: 'text',
    isRequired: true,
    placeholder: '0 3 * * *',
    hint: 'Minute, hour, day of the month, month, day of the week; or @daily and the like.',
  },
  { path: `${path}timezone`, label: 'Time zone', type: 'text', isRequired: true, placeholder: 'Europe/Paris' },
  ...programFields(path),
]

/** A program that a job runs at an event, or none. */
const eventField = (path: string, label: string, when: string): ShapeSpec => ({
  path,
  label,
  type: 'shape',
  shapes: [
    { label: 'runs nothing', mark: '', fresh: null, fields: [] },
    { label: 'runs a program', mark: 'arguments', fresh: { arguments: [] }, fields: programFields('', when) },
  ],
})

/** The programs of a job by event. `path` is the place of the schedule. */
const eventFields = (path: string): readonly FieldSpec[] => [
  eventField(`${path}on_start`, 'When its environment starts, the job', ' on start'),
  eventField(`${path}on_stop`, 'When its environment stops, the job', ' on stop'),
  eventField(`${path}on_delete`, 'When it is deleted, the job', ' on deletion'),
]

/** When a new job runs. */
export const scheduleField: ShapeSpec = {
  path: 'schedule',
  label: 'When it runs',
  type: 'shape',
  shapes: [
    {
      label: 'by a timetable',
      mark: 'cronjob',
      fresh: { cronjob: { scheduled_at: '', timezone: 'Etc/UTC', arguments: [] } },
      fields: timetable('cronjob.'),
    },
    {
      label: 'at several events',
      mark: 'lifecycle_type',
      fresh: { lifecycle_type: 'GENERIC', on_start: { arguments: [] } },
      fields: eventFields(''),
    },
    {
      label: 'when its environment starts',
      mark: 'on_start',
      fresh: { on_start: { arguments: [] } },
      fields: programFields('on_start.', ' on start'),
    },
    {
      label: 'when its environment stops',
      mark: 'on_stop',
      fresh: { on_stop: { arguments: [] } },
      fields: programFields('on_stop.', ' on stop'),
    },
    {
      label: 'when it is deleted',
      mark: 'on_delete',
      fresh: { on_delete: { arguments: [] } },
      fields: programFields('on_delete.', ' on deletion'),
    },
  ],
}

/** Pure: when a job runs, which is either a timetable or events. */
export const scheduleFields = (draft: Draft): readonly FieldSpec[] =>
  valueAt(draft, 'schedule.cronjob') ? timetable('schedule.cronjob.') : eventFields('schedule.')
