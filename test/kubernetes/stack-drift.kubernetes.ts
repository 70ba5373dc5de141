import { stackDrift } from '../support/stack-drift.ts'
import { openClusterPlace } from './support/stack-place.ts'

// A stack that is changed from outside, on a cluster.

await stackDrift('drift on a cluster', openClusterPlace)
