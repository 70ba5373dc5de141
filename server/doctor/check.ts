/** The result of one check. `remedy` says what to do about a warning or a failure. */
export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly message: string
  readonly remedy?: string
}

/** The outcome of a check without its name. */
export type Outcome = Omit<Finding, 'check'>

export const ok = (message: string): Outcome => ({ status: 'ok', message })
export const warn = (message: string, remedy: string): Outcome => ({ status: 'warn', message, remedy })
export const fail = (message: string, remedy: string): Outcome => ({ status: 'fail', message, remedy })

/**
 * Pure: returns the first three numbers of a version such as `20.10.24+dfsg1`. Undefined if it has
 * none.
 */
export function parseVersion(text: string): readonly [number, number, number] | undefined {
  const [, major, minor, patch = '0'] = /(?<!\d)(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?/.exec(text) ?? []
  return major === undefined ? undefined : [Number(major), Number(minor), Number(patch)]
}

/** Pure: whether the version is older than the other one. */
export function isOlder(version: string, than: string): boolean {
  const [left, right] = [parseVersion(version), parseVersion(than)]
  if (!left || !right) return false
  const differing = [0, 1, 2].find((at) => left[at] !== right[at])
  return differing !== undefined && (left[differing] ?? 0) < (right[differing] ?? 0)
}

const gibibyte = 1024 ** 3

/** Pure: formats bytes for people. */
export const sizeOf = (bytes: number): string =>
  bytes >= gibibyte ? `${(bytes / gibibyte).toFixed(1)} GiB` : `${Math.round(bytes / 1024 ** 2)} MiB`
