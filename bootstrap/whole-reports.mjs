/**
 * For a runner of tests that is made to exit, and its test files: what they write to a pipe is written before they go on. Else they lose
 * what the reader had not taken yet (https://github.com/nodejs/node/issues/64833), and tests that ran are not counted. Node has no public
 * way to ask for that; where the handle is missing, or cannot do it, all stays as it was, and a test of the counts fails.
 */
for (const stream of [process.stdout, process.stderr]) {
  const { _handle } = /** @type {{ _handle?: { setBlocking?: (on: boolean) => void } }} */ (
    /** @type {unknown} */ (stream)
  )
  _handle?.setBlocking?.(true)
}
