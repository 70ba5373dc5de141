/** A test, or a file of tests by its `after`. */
interface Ending {
  after(work: () => Promise<void>): void
}

const endings = new WeakMap<Ending, AsyncDisposableStack>()

/**
 * Registers a clean-up of the test. The last one runs first: a server ends before its directory is
 * removed. Node runs its own hooks in the order of their registration.
 */
export function atEnd(t: Ending, work: () => unknown): void {
  const known = endings.get(t)
  const stack = known ?? new AsyncDisposableStack()
  if (!known) t.after(() => stack.disposeAsync())
  endings.set(t, stack)
  stack.defer(async () => void (await work()))
}
