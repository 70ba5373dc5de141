/**
 * Makes writes to pipes blocking in a test runner that is forced to exit and in its test files.
 * Otherwise output that the reader has not taken yet is lost, and finished tests are not counted
 * (https://github.com/nodejs/node/issues/64833). Node has no public way to do this. If the handle
 * is missing or cannot block, nothing changes and a test of the counts fails.
 */
for (const stream of [process.stdout, process.stderr]) {
  const { _handle } = /** @type {{ _handle?: { setBlocking?: (on: boolean) => void } }} */ (
    /** @type {unknown} */ (stream)
  )
  _handle?.setBlocking?.(true)
}
