/**
 * Like Promise.all, but rejects only after all work has ended. Work that continued would overlap
 * with its own retry.
 */
export async function everyOne<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work)
  return Promise.all(work)
}
