import { stackLocks } from '../support/stack-locks.ts'
import { openDockerPlace } from '../support/stack-place.ts'

// Runs of a stack on the Docker Engine at the same time, and the lock of a run that is gone.

await stackLocks('locks of stacks on the Docker Engine', openDockerPlace)
