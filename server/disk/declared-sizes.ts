/** Pure: returns declared storage sizes by storage id. A database's storage has an empty id. */
export function declaredSizes(settings: object | undefined): ReadonlyMap<string, number> {
  const storage = settings === undefined || !('storage' in settings) ? undefined : settings.storage
  if (typeof storage === 'number') return new Map([['', storage]])
  if (!Array.isArray(storage)) return new Map()
  return new Map(
    storage.map(({ id, size }: { readonly id: unknown; readonly size: unknown }) => [String(id), Number(size)]),
  )
}

/** Pure: whether the settings declare a new or larger storage. */
export function grows(from: object | undefined, to: object): boolean {
  const before = declaredSizes(from)
  return [...declaredSizes(to)].some(([id, size]) => size > (before.get(id) ?? 0))
}
