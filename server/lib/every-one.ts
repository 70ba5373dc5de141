/** Like Promise.all, but rejects only after all work has ended: work that continues would meet its own repetition. */
export async function everyOne<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work)
  return Promise.all(work)
}
