import { stackMoves } from '../support/stack-moves.ts'
import { openDockerPlace } from '../support/stack-place.ts'

// A state that moves between the platform and a backend of the files, on the Docker Engine.

await stackMoves('states that move on the Docker Engine', openDockerPlace)
