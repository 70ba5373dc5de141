/**
 * Returns untrusted data as an object. Throws an Error that names the place if it is not an object.
 */
export function record(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${where}: an object is expected`)
  }
  return { ...value }
}
