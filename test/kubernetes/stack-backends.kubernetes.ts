import { stackMoves } from '../support/stack-moves.ts'
import { openClusterPlace } from './support/stack-place.ts'

// A state that moves between the platform and a backend of the files, on a cluster.

await stackMoves('states that move on a cluster', openClusterPlace)
