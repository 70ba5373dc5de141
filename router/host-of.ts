const form = /^([a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)\.?(?::\d{1,5})?$/
/** Such a header is the name itself. */
const plain = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/
const bracketed = /^\[[0-9a-f:.]+\](?::\d{1,5})?$/

/**
 * The host name that a Host header means: lower case, without port and closing dot. Undefined where it is malformed;
 * addresses in brackets give themselves, which no route has.
 */
export function hostOf(header: string): string | undefined {
  if (plain.test(header)) return header
  const lower = header.toLowerCase()
  const match = form.exec(lower)
  if (match) return match[1]
  return bracketed.test(lower) ? lower : undefined
}
