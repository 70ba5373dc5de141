import { stackLocks } from '../support/stack-locks.ts'
import { openClusterPlace } from './support/stack-place.ts'

// Runs of a stack on a cluster at the same time, and the lock of a run that is gone.

await stackLocks('locks of stacks on a cluster', openClusterPlace)
