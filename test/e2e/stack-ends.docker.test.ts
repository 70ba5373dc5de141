import { stackEnds } from '../support/stack-ends.ts'
import { openDockerPlace } from '../support/stack-place.ts'

// Runs of a stack on the Docker Engine that are cancelled, killed or lost.

await stackEnds('ends of stacks on the Docker Engine', openDockerPlace)
