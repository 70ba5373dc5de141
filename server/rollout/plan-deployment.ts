import { serviceTypeOf } from '@quayside/contract/enums.ts'
import type { DeploymentEffect, PlannedValue } from '@quayside/contract/resources/deployment-plan.ts'
import { isChartKind, isStackKind, isTaskKind, type KindName } from '@quayside/contract/services/kinds.ts'
import {
  type Build,
  buildOf,
  type ChangedValue,
  changedNames,
  isRunWhenDeployed,
  pinnedRepositoryOf,
  sorted,
  type Versioned,
} from '../releases/index.ts'
import { buildSecretNames } from './build-secrets.ts'
import { settingAt, shortened } from './planned-text.ts'

/** The parts of a version that decide whether it is built or started again. */
export interface Version {
  readonly kind: KindName
  readonly settings: object
  /** Advanced settings of the version. */
  readonly advanced: object
  /** Name and tag of its image, if it is not built. */
  readonly image: string | undefined
}

/** Facts about a service whose deployment is planned. */
export interface PlanFacts {
  readonly id: string
  readonly name: string
  readonly wanted: Version
  /** Undefined: nothing runs. */
  readonly running: Version | undefined
  /** Differences of its workload, named as by `changesOf`. */
  readonly changes: readonly string[]
  /** The same variables and files with their values. */
  readonly values: readonly ChangedValue[]
  /** The commit of the running version, if it was built or fetched from one. */
  readonly runningCommit: string | undefined
  readonly isHealthy: boolean
  readonly wasDeployed: boolean
  /** The reason why it would be skipped. */
  readonly skipped: string | undefined
  /**
   * Another service whose image is reused if the commit is the same. Undefined: it must be built.
   */
  readonly twin: string | undefined
  /** The wanted version is a previous one, which has its image. */
  readonly isRollback: boolean
}

/** Pure: returns what the next deployment would do with a service. */
export function planService(facts: PlanFacts) {
  const { id, name, wanted, running, changes, skipped } = facts
  const changed_settings = running
    ? [...changedNames(running.settings, wanted.settings), ...changedNames(running.advanced, wanted.advanced)]
    : []
  const changed_variables = changes.flatMap((change) => /^(?:variable|file) (.*)$/s.exec(change)?.[1] ?? []).sort()
  const [effect, ...reasons] = decide(facts, changed_settings)
  return {
    service_id: id,
    service_type: serviceTypeOf(wanted.kind),
    name,
    effect,
    reasons,
    is_first_deployment: !facts.wasDeployed,
    changed_settings,
    changed_variables,
    changed_values: valuesOf(facts, changed_settings),
    running_commit: facts.runningCommit ?? null,
    branch: branchOf(facts) ?? null,
    skipped: skipped ?? null,
  }
}

/** Lists settings, then the image, then variables and files. */
function valuesOf({ wanted, running, values }: PlanFacts, changedSettings: readonly string[]): PlannedValue[] {
  if (!running) return []
  const settings = changedSettings.map((name) => {
    const [before, after] = [running, wanted].map((of) => settingAt({ ...of.settings, ...of.advanced }, name))
    return { kind: 'SETTING' as const, name, before: before ?? null, after: after ?? null, is_secret: false }
  })
  const [before, after] = [running.image ?? null, wanted.image ?? null]
  const image = before === after ? [] : [{ kind: 'IMAGE' as const, name: 'image', before, after, is_secret: false }]
  return [...settings, ...image, ...values].map((one) => ({
    ...one,
    before: shortened(one.before),
    after: shortened(one.after),
  }))
}

type Decision = readonly [DeploymentEffect, ...string[]]

function decide(facts: PlanFacts, changedSettings: readonly string[]): Decision {
  const { wanted, running, changes, isHealthy, wasDeployed, skipped } = facts
  if (skipped) return ['SKIP', skipped]
  const build = wantedBuild(facts)
  const taken = build && facts.twin !== undefined ? [twinText(facts.twin)] : []
  if (!running) {
    return wasDeployed ? ['START', 'It is not running.', ...taken] : ['FIRST_START', 'It was never deployed.', ...taken]
  }
  const rebuilt = build && whyRebuilt(build, facts, { running, changedSettings })
  if (rebuilt) return ['REBUILD', rebuilt, ...taken]
  const perhapsBuilt = build && changes.some(isVariable) ? [argText] : []
  if (isRunWhenDeployed(versioned(wanted))) {
    return ['RESTART', 'The start command of a job runs at each deployment.', ...perhapsBuilt]
  }
  if (isStackKind(wanted.kind)) return ['RESTART', stackText]
  const image = wanted.image === running.image ? [] : [`image ${wanted.image}`]
  const all = [...image, ...changes]
  if (all.length > 0) return ['RESTART', `Changed since the running version: ${all.join(', ')}.`, ...perhapsBuilt]
  if (!isHealthy) return ['RESTART', 'Nothing changed, but the running version is not healthy.']
  return ['KEEP', 'Nothing changed.', ...conditions(facts, branchOf(facts))]
}

/** Returns how the wanted version is built. Undefined if its image is fetched or already exists. */
const wantedBuild = ({ wanted, isRollback }: PlanFacts): Build | undefined =>
  isRollback ? undefined : buildOf(versioned(wanted))

/** Returns the branch whose newest commit is looked up when the request runs. */
const branchOf = (facts: PlanFacts): string | undefined =>
  (facts.isRollback ? undefined : pinnedRepositoryOf(versioned(facts.wanted)))?.branch ?? undefined

function whyRebuilt(
  build: Build,
  { wanted, changes }: PlanFacts,
  { running, changedSettings }: { readonly running: Version; readonly changedSettings: readonly string[] },
): string | undefined {
  const recipe = changedSettings.filter((name) => name.startsWith('build.'))
  if (recipe.length > 0 || sorted(build) !== sorted(buildOf(versioned(running)))) {
    return `What it is built from changed: ${changedSettings.join(', ')}.`
  }
  const secrets = buildSecretNames(wanted.advanced).filter((name) => changes.includes(`variable ${name}`))
  return secrets.length > 0 ? `Secrets that its build may read have changed: ${secrets.join(', ')}.` : undefined
}

const stackText =
  'A stack makes a plan at each deployment and applies it if it changes anything. A dry run makes none: deploy the ' +
  'stack with the action PLAN to see it.'

const isVariable = (change: string): boolean => change.startsWith('variable ')
// The Dockerfile is read when the request runs.
const argText = 'If the Dockerfile declares one of the changed variables as ARG, the image is built again.'

const twinText = (twin: string): string =>
  `If commit, build arguments and build secrets match those of ${twin}, its image is used and nothing is built.`

/** Lists what is looked up only when the request runs. */
function conditions({ wanted: { kind, image }, isRollback }: PlanFacts, branch: string | undefined): string[] {
  if (isRollback) return []
  if (isChartKind(kind)) return [branch === undefined ? objectsText : `${chartText(branch)} ${objectsText}`]
  const verb = isTaskKind(kind) ? 'taken' : 'started'
  if (branch !== undefined) return [`A newer commit of branch "${branch}" would be built and ${verb}.`]
  return image === undefined ? [] : [`Another image that is named ${image} by then would be ${verb}.`]
}

const chartText = (branch: string): string => `A newer commit of branch "${branch}" would be installed.`
const objectsText = 'A deployment with forceEvent=DIFF shows which objects would change.'

// Kind and settings come from one row.
const versioned = ({ kind, settings }: Version): Versioned => ({ kind, settings }) as Versioned
