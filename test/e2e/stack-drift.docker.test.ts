import { stackDrift } from '../support/stack-drift.ts'
import { openDockerPlace } from '../support/stack-place.ts'

// A stack that is changed from outside, on the Docker Engine.

await stackDrift('drift on the Docker Engine', openDockerPlace)
