import { findScale } from '../scaling/index.ts'
import { findService } from '../services/index.ts'
import { internalHost } from '../variables/index.ts'
import { stopGraceSeconds } from './acting-settings.ts'
import { openVariables } from './freeze.ts'
import type { RecipeOptions } from './recipe.ts'
import type { ReleaseRow } from './release-store.ts'
import { startDeadlineSeconds, toWorkload } from './to-workload.ts'
import { isPublished } from './versioned.ts'

/** A release as the engine takes it, in the number of replicas that its service has now. */
export async function engineRelease(
  { database, vault, publicPorts }: Pick<RecipeOptions, 'database' | 'vault' | 'publicPorts'>,
  organizationId: string,
  release: ReleaseRow,
) {
  const service = await findService(database, release.service_id)
  if (!service || !release.image) throw new Error(`release ${release.id} has no service or no image`)
  const { variables, files, secrets } = await openVariables(database, vault, organizationId, release)
  const workload = toWorkload(release, {
    service: service.id,
    image: release.image.reference,
    variables,
    files,
    aliases: [internalHost(service)],
    startDeadlineSeconds: startDeadlineSeconds(release),
    stopGraceSeconds: stopGraceSeconds(service.kind, release.advanced_settings),
    labels: release.labels,
    ...(isPublished(release) && release.public_port !== null
      ? { publicPort: { address: publicPorts.address, port: release.public_port } }
      : {}),
    scale: await findScale(database, service.id),
  })
  const { id, environment_id: environment, name: displayName } = service
  return { release: { id: release.id, service: id, environment, displayName, workload }, secrets }
}
