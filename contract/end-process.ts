import { setFlagsFromString } from 'node:v8'

/** The time in which compilations end that have begun, in milliseconds. */
const compileMs = 100

/**
 * Ends this process with an exit code. Node.js joins its threads then, and a thread in which Maglev
 * compiles may wait without end for a garbage collection of the main thread
 * (https://github.com/nodejs/node/issues/54918). So no compilation begins from now on.
 */
export function endProcess(code: number): void {
  setFlagsFromString('--no-maglev')
  setTimeout(() => process.exit(code), compileMs)
}
