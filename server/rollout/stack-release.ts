import type { Release, Task } from '../engines/index.ts'
import type { Secret } from '../lib/secret.ts'
import { openVariables } from '../releases/index.ts'
import type { TargetRow } from '../requests/index.ts'
import { findService } from '../services/index.ts'
import { type Phase, type StackOwner, stackTask, withWrapped } from '../stacks/index.ts'
import type { StackRelease } from './deploy-stack.ts'
import type { Recipe, Work } from './recipe.ts'

/** The longest run of a stack whose settings have no limit. */
const longestSeconds = 86_400

/** A run of a stack, with everything that its tasks need. */
export interface LoadedStack {
  readonly run: string
  readonly isDestroy: boolean
  readonly isDriftCheck?: boolean
  readonly row: StackRelease
  readonly owner: StackOwner
  readonly displayName: string
  readonly variables: Task['variables']
  readonly files: Task['files']
  readonly secrets: readonly Secret[]
  readonly timeoutSeconds: number
  readonly memoryMiB: number
}

/** Loads the version of a stack that a run executes. */
export async function loadStack(
  options: Pick<Recipe, 'database' | 'vault'>,
  { target, organizationId }: { readonly target: Pick<TargetRow, 'service_id'> } & Pick<Work, 'organizationId'>,
  row: StackRelease,
  of: Pick<LoadedStack, 'run' | 'isDestroy' | 'isDriftCheck'>,
): Promise<LoadedStack> {
  const service = await findService(options.database, target.service_id)
  if (!service || !row.image) throw new Error(`release ${row.id} has no service or no image`)
  const opened = await openVariables(options.database, options.vault, organizationId, row)
  const { variables, files, secrets } = opened
  return {
    ...of,
    row,
    owner: { serviceId: service.id, environmentId: service.environment_id, organizationId },
    displayName: service.name,
    variables,
    files,
    secrets: withWrapped(secrets),
    timeoutSeconds: row.settings.timeout_sec || longestSeconds,
    memoryMiB: row.settings.job_resources.ram_mib,
  }
}

/** Returns a phase of a run in the form that the engine runs. */
export async function phaseRelease(
  { database, stacks }: Pick<Recipe, 'database' | 'stacks'>,
  stack: LoadedStack,
  name: Phase['name'],
): Promise<Release<Task>> {
  const { run, isDestroy, isDriftCheck = false, row, owner, displayName, variables, files, timeoutSeconds } = stack
  const image = row.image?.published ?? row.image?.reference ?? ''
  const { labels, annotations } = row
  const phase: Phase =
    name === 'plan'
      ? { name, isDestroy, isDriftCheck }
      : name === 'migrate'
        ? { name }
        : { name, plan: await stacks.openPlan(database, owner, run) }
  const state = await stacks.openState(database, owner)
  // The plan of one run may be applied by another one, which must begin with the same state.
  const lineage = owner.serviceId
  const given = { image, variables, files, labels, annotations, aliases: [], state, lineage, timeoutSeconds }
  const workload = stackTask(row.settings, phase, given)
  return { id: row.id, service: owner.serviceId, environment: owner.environmentId, displayName, workload }
}
