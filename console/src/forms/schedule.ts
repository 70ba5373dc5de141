import type { FieldSpec, ShapeSpec } from './fields.ts'

/** The program of a job for one occasion. */
const program = (path: string, when: string): readonly FieldSpec[] => [
  { path: `${path}.entrypoint`, label: `Entrypoint ${when}`, type: 'text', hint: 'Empty: that of the image.' },
  { path: `${path}.arguments`, label: `Arguments ${when}`, type: 'words', hint: 'One a line.' },
]

/** When a job runs. */
export const scheduleField: ShapeSpec = {
  path: 'schedule',
  label: 'When it runs',
  type: 'shape',
  shapes: [
    {
      label: 'by a timetable',
      mark: 'cronjob',
      fresh: { cronjob: { scheduled_at: '', timezone: 'Etc/UTC', arguments: [] } },
      fields: [
        {
          path: 'cronjob.scheduled_at',
          label: 'Timetable',
          type: 'text',
          isRequired: true,
          placeholder: '0 3 * * *',
          hint: 'Minute, hour, day of the month, month, day of the week; or @daily and the like.',
        },
        { path: 'cronjob.timezone', label: 'Time zone', type: 'text', isRequired: true, placeholder: 'Europe/Paris' },
        ...program('cronjob', ''),
      ],
    },
    {
      label: 'when its environment starts',
      mark: 'on_start',
      fresh: { on_start: { arguments: [] } },
      fields: program('on_start', 'on start'),
    },
    {
      label: 'when its environment stops',
      mark: 'on_stop',
      fresh: { on_stop: { arguments: [] } },
      fields: program('on_stop', 'on stop'),
    },
    {
      label: 'when it is deleted',
      mark: 'on_delete',
      fresh: { on_delete: { arguments: [] } },
      fields: program('on_delete', 'on deletion'),
    },
  ],
}
