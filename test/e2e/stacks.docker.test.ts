import { openDockerPlace } from '../support/stack-place.ts'
import { stackWalk } from '../support/stack-walk.ts'

// A Terraform stack on the Docker Engine, from its settings to its resources and back.

await stackWalk('terraform', openDockerPlace)
await stackWalk('opentofu', openDockerPlace)
