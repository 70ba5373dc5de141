import type { ChangedField } from './chart-change.ts'

/** Returns a member of which nothing but its path is known. Pure. */
export const hiddenField = (path: string): ChangedField => ({
  ...{ path, before: undefined, after: undefined },
  isHidden: true,
})

/** Returns a member without secrets. If nothing else of it differs, it is hidden. Pure. */
export function maskedField(
  { path, before, after, isHidden }: ChangedField,
  mask: (text: string) => string,
): ChangedField {
  const [was, is] = [before, after].map((text) => (text === undefined ? undefined : mask(text)))
  return was === is ? hiddenField(path) : { path, before: was, after: is, isHidden }
}
