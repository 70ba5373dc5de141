import { stackWalk } from '../support/stack-walk.ts'
import { openClusterPlace } from './support/stack-place.ts'

// A Terraform stack on a cluster, from its settings to its resources and back.

await stackWalk('terraform', openClusterPlace)
await stackWalk('opentofu', openClusterPlace)
