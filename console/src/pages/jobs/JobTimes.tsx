import { useQuery } from '@tanstack/react-query'
import { type JobPlace, jobTimetable } from '../../api/reads-jobs.ts'
import { cronWords } from '../../ui/cron-words.ts'
import { Problem } from '../../ui/Problem.tsx'
import { relativeTime } from '../../ui/time.ts'
import { inZone } from '../TimetableWords.tsx'
import styles from './Jobs.module.css'

interface JobTimesProps {
  readonly place: JobPlace
  /** The timetable of the settings. */
  readonly cronjob: { readonly scheduled_at: string; readonly timezone: string }
}

/** The next times of a job in words, in its own time zone. */
export function JobTimes({ place, cronjob }: JobTimesProps) {
  const { data, error } = useQuery(jobTimetable(place))
  const words = `${cronWords(cronjob.scheduled_at)}, ${cronjob.timezone}.`
  if (!data) return error ? <Problem error={error} /> : <p>{words}</p>
  const { cron_at: cron, timezone, next } = data
  if (cron === null) return <p>{words} It does not run by itself while it is not deployed.</p>
  return (
    <>
      <p>
        {cronWords(cron)}, {timezone}.
      </p>
      <ol className={styles['times']}>
        {next.map((at) => (
          <li key={at}>
            <time dateTime={at}>{inZone(new Date(at), timezone)}</time>{' '}
            <span className={styles['quiet']}>{relativeTime(at, Date.now())}</span>
          </li>
        ))}
      </ol>
    </>
  )
}
