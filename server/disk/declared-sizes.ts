/**
 * Pure: the declared sizes of the storages in settings, by the ids of the storages; that of a
 * database under an empty id.
 */
export function declaredSizes(settings: object | undefined): ReadonlyMap<string, number> {
  const storage = settings === undefined || !('storage' in settings) ? undefined : settings.storage
  if (typeof storage === 'number') return new Map([['', storage]])
  if (!Array.isArray(storage)) return new Map()
  return new Map(
    storage.map(({ id, size }: { readonly id: unknown; readonly size: unknown }) => [String(id), Number(size)]),
  )
}

/** Pure: whether settings declare a storage that is new or larger than before. */
export function grows(from: object | undefined, to: object): boolean {
  const before = declaredSizes(from)
  return [...declaredSizes(to)].some(([id, size]) => size > (before.get(id) ?? 0))
}
