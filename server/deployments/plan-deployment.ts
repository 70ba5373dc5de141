import { serviceTypeOf } from '@quayside/contract/enums.ts'
import type { DeploymentEffect } from '@quayside/contract/resources/deployment-plan.ts'
import { isTaskKind, type KindName } from '@quayside/contract/services/kinds.ts'
import { buildOf, type Versioned } from './versioned.ts'

/** A version of a service, as far as it decides what has to be made anew. */
export interface Version {
  readonly kind: KindName
  readonly settings: object
  /** Of the advanced settings. */
  readonly advanced: object
  /** Texts by the names of variables and the paths of files. */
  readonly variables: ReadonlyMap<string, string>
}

/** What is known of a service whose deployment is planned. */
export interface PlanFacts {
  readonly id: string
  readonly name: string
  readonly wanted: Version
  /** Undefined: it was never deployed. */
  readonly running: Version | undefined
  /** Why it would not take part. */
  readonly skipped: string | undefined
}

/** Settings that no workload feels. */
const unfelt: ReadonlySet<string> = new Set(['icon_uri', 'auto_preview', 'auto_deploy'])

/** Pure: what the next deployment would do with a service. */
export function planService({ id, name, wanted, running, skipped }: PlanFacts) {
  const changed_settings = running
    ? [...changedNames(running.settings, wanted.settings), ...changedNames(running.advanced, wanted.advanced)]
    : []
  const changed_variables = running ? changedTexts(running.variables, wanted.variables) : []
  const build = buildOf(versioned(wanted))
  return {
    service_id: id,
    service_type: serviceTypeOf(wanted.kind),
    name,
    effect: effectOf(wanted, running, [...changed_settings, ...changed_variables]),
    is_first_deployment: running === undefined,
    changed_settings,
    changed_variables,
    branch: build?.repository.branch ?? null,
    skipped: skipped ?? null,
  }
}

function effectOf(wanted: Version, running: Version | undefined, changed: readonly string[]): DeploymentEffect {
  const build = buildOf(versioned(wanted))
  const former = running && buildOf(versioned(running))
  if (build && JSON.stringify(build) !== JSON.stringify(former)) return 'REBUILD'
  if (build && changed.some((name) => name.startsWith('build.'))) return 'REBUILD'
  // What a job runs at its deployment is run whatever has changed.
  if (isTaskKind(wanted.kind)) return 'RESTART'
  return !running || changed.some((name) => !unfelt.has(name)) ? 'RESTART' : 'NOTHING'
}

// Kind and settings are of one row.
const versioned = ({ kind, settings }: Version): Versioned => ({ kind, settings }) as Versioned

/** Names of members that differ, of objects inside with a dot: `git_repository.branch`. Lists differ as a whole. */
export function changedNames(before: object, after: object): string[] {
  const [old, young] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  const names = [...new Set([...old.keys(), ...young.keys()])].sort()
  return names.flatMap((name) => {
    const [a, b] = [old.get(name) ?? null, young.get(name) ?? null]
    if (isObject(a) && isObject(b)) return changedNames(a, b).map((inner) => `${name}.${inner}`)
    return sortedText(a) === sortedText(b) ? [] : [name]
  })
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The same for the same value, in whatever order its members stand. */
const sortedText = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  )

/** Built-in variables that differ from one deployment to the next. */
const ofEachDeployment = /^QOVERY_.*_(?:GIT_COMMIT_ID|DEPLOYMENT_ID)$/

function changedTexts(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].filter((name) => before.get(name) !== after.get(name) && !ofEachDeployment.test(name)).sort()
}
