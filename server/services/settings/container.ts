import { checkRunning, type RunningSettings, runningRecord, runningSettings } from './application.ts'
import { type Branch, given, originOf } from './branch.ts'
import { checkImage, checkStorageGrowth } from './rules.ts'

/** An image from a container registry. */
export interface ImageSettings {
  readonly image_name: string
  readonly tag: string
  readonly registry_id: string
}
export interface ContainerSettings extends RunningSettings, ImageSettings {}

const defaultIcon = 'app://qovery-console/container'

const change: Branch<'container'>['change'] = (former, body) => {
  const { image_name, tag, registry_id } = body
  // A member that is not in the body is in the previous settings or has a default in the create
  // schema.
  return { ...runningSettings(former, body), ...given({ image_name, tag, registry_id }) } as ContainerSettings
}

export const containerBranch: Branch<'container'> = {
  // A new container differs from a changed one only by its icon: every other member has a default
  // in the schema.
  create: (body, types) => change({ icon_uri: defaultIcon } as ContainerSettings, body, types),
  change,
  check: (settings, ceiling) => {
    checkImage('', settings)
    checkRunning(settings, ceiling)
  },
  checkDeployed: checkStorageGrowth,
  repositories: [],
  origins: [{ table: 'container_registry', path: 'registry_id' }],
  record: (settings, facts) => ({
    ...settings,
    ...runningRecord(settings, facts.ceiling),
    maximum_gpu: 0,
    registry: originOf(facts),
  }),
}
