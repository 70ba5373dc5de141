const form = /^([a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)\.?(?::\d{1,5})?$/
/** A header of this form is already the name. */
const plain = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/
const bracketed = /^\[[0-9a-f:.]+\](?::\d{1,5})?$/

/**
 * Returns the host name of a Host header in lower case, without port and trailing dot. Undefined if
 * it is malformed. An address in brackets is returned as it is, and no route has one.
 */
export function hostOf(header: string): string | undefined {
  if (plain.test(header)) return header
  const lower = header.toLowerCase()
  const match = form.exec(lower)
  if (match) return match[1]
  return bracketed.test(lower) ? lower : undefined
}
