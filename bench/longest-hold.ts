/** Returns the longest time between two turns of this thread while the text is read. */
export async function longestHoldMs(read: () => unknown): Promise<number> {
  let longest = 0
  let last = performance.now()
  const look = (): void => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }
  const ticking = setInterval(look, 1)
  try {
    await read()
  } catch {
    // Most of them are rejected.
  }
  look()
  clearInterval(ticking)
  return longest
}
