const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const
const names: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
}
const isNumber = (part: string): boolean => /^\d{1,2}$/.test(part)
const stepOf = (part: string): number | undefined => Number(/^\*\/(\d{1,2})$/.exec(part)?.[1]) || undefined

/** Pure: a cron expression in words. One that has no short words is returned as it is. */
export function cronWords(cron: string): string {
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...rest] = (names[cron] ?? cron)
    .trim()
    .split(/\s+/)
  const when = month === '*' && rest.length === 0 ? dayWords(day, weekday) : undefined
  const time = timeWords(minute, hour)
  if (!when || !time) return cron
  return time.isOften && when === 'every day'
    ? capital(time.words)
    : capital(`${when}${time.isOften ? ',' : ' at'} ${time.words}`)
}

function timeWords(minute: string, hour: string): { readonly words: string; readonly isOften: boolean } | undefined {
  if (isNumber(minute) && isNumber(hour)) {
    return { words: `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`, isOften: false }
  }
  if (minute === '*' && hour === '*') return { words: 'every minute', isOften: true }
  const minutes = stepOf(minute)
  if (minutes && hour === '*') return { words: `every ${minutes} minutes`, isOften: true }
  const past = `at minute ${minute}`
  if (isNumber(minute) && hour === '*') return { words: `every hour ${past}`, isOften: true }
  const hours = stepOf(hour)
  return isNumber(minute) && hours ? { words: `every ${hours} hours ${past}`, isOften: true } : undefined
}

function dayWords(day: string, weekday: string): string | undefined {
  if (day === '*' && weekday === '*') return 'every day'
  if (day === '*' && weekday === '1-5') return 'every day from Monday to Friday'
  if (day === '*' && /^[0-7](?:,[0-7]){0,6}$/.test(weekday)) {
    return `every ${weekday
      .split(',')
      .map((one) => days[Number(one)])
      .join(', ')}`
  }
  return isNumber(day) && weekday === '*' ? `on day ${day} of each month` : undefined
}

const capital = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}`
