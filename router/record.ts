/** An object of untrusted data; throws an Error that names the place where it is none. */
export function record(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${where}: an object is expected`)
  }
  return { ...value }
}
