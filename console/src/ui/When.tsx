import { relativeTime } from './time.ts'

/** A moment as people say it. Its exact time appears when somebody points at it. */
export const When = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={exactTime(at)}>
    {relativeTime(at, Date.now())}
  </time>
)

/** Pure: a moment in the time zone of the reader, with its seconds. */
export const exactTime = (at: string): string =>
  new Date(at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'long' })
