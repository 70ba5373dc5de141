import { splitWords, unquoted } from './words.ts'

/** The variables that FROM may use, by name. */
export type Values = ReadonlyMap<string, string>

/** The values that BuildKit itself provides for FROM. */
const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'
export const nativePlatform = `linux/${architecture}`
const nativeNames = new Set(
  architecture === 'arm64' ? ['arm64', 'aarch64', 'arm64/v8', 'aarch64/v8'] : ['amd64', 'x86_64', 'amd64/v1'],
)
export const isNativePlatform = (platform: string): boolean => nativeNames.has(platform.replace(/^linux\//, ''))
export const platformValues: Values = new Map(
  ['TARGET', 'BUILD'].flatMap((side): [string, string][] => [
    [`${side}PLATFORM`, nativePlatform],
    [`${side}OS`, 'linux'],
    [`${side}ARCH`, architecture],
    [`${side}VARIANT`, ''],
  ]),
)

/** Adds the variables that an ARG before the first FROM declares. */
export function declare(rest: string, escapeCharacter: string, given: Values, values: Map<string, string>): void {
  for (const word of splitWords(rest, escapeCharacter)) {
    const equals = word.indexOf('=')
    const name = equals === -1 ? word : word.slice(0, equals)
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) continue
    const value = given.get(name) ?? (equals === -1 ? undefined : expand(word.slice(equals + 1), values))
    if (value !== undefined) values.set(name, value)
  }
}

/** Longer than any image name. */
const maxValue = 2000

/**
 * Expands `$X`, `${X}`, `${X:-else}` and `${X:+other}` without quotes. Undefined for other syntax,
 * a missing value, or a result longer than a name may be.
 */
export function expand(text: string, values: Values = new Map()): string | undefined {
  let isKnown = text.length <= maxValue
  let length = text.length
  if (!isKnown) return undefined
  const expanded = text.replace(
    /\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)(?::([-+])([^}$]*))?\})/g,
    (_, plain?: string, braced?: string, how?: string, other = '') => {
      const value = values.get(plain ?? braced ?? '')
      if (value === undefined && how === undefined) isKnown = false
      const chosen = how === '-' ? value || other : how === '+' ? (value ? other : '') : (value ?? '')
      length += chosen.length
      if (length > maxValue) isKnown = false
      return isKnown ? chosen : ''
    },
  )
  return isKnown && !expanded.includes('$') ? unquoted(expanded) : undefined
}
