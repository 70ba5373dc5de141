/** Pure: the seconds of an ISO 8601 duration such as PT1M2.5S. 0 without one. */
export function secondsIn(duration: string | null): number {
  const [, hours = 0, minutes = 0, seconds = 0] = /^PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?$/.exec(duration ?? '') ?? []
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
}

/** Pure: an ISO 8601 duration such as PT1M2.5S in words, such as "1 min 3 s". */
export function secondsOf(duration: string): string {
  const all = Math.round(secondsIn(duration))
  return all < 60 ? `${all} s` : `${Math.floor(all / 60)} min ${all % 60} s`
}
