import { setFlagsFromString } from 'node:v8'

/**
 * Keeps a test runner and its test files from hanging at their end. Node.js joins its threads then,
 * and a thread in which Maglev compiles may wait for a garbage collection of the main thread, which
 * no longer happens (https://github.com/nodejs/node/issues/54918). The flag has an effect on
 * everything that is compiled from now on.
 */
setFlagsFromString('--no-maglev')
