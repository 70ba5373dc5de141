import {
  type Component,
  type EngineVersions,
  type Hole,
  holesOf,
  reachableHolesOf,
  safeVersions,
} from '../lib/known-holes.ts'
import { type Outcome, ok, warn } from './check.ts'
import type { BuilderFact } from './facts.ts'

const names = { engine: 'Docker Engine', buildkit: 'BuildKit', runc: 'runc', containerd: 'containerd' } as const
const checkNames = { ...names, engine: 'engine holes', buildkit: 'buildkit' } as const
const components: readonly Component[] = ['engine', 'buildkit', 'runc', 'containerd']

/** Pure: returns a check for each component of an engine whose version is known. */
export function checkHoles(versions: EngineVersions, builder: BuilderFact): readonly (readonly [string, Outcome])[] {
  const isUnused = builder.hasImage && builder.deniedBy === undefined
  return components
    .filter((component) => versions[component] ?? (component === 'buildkit' && versions.engine))
    .map((component) => {
      const outcome = checkComponent(component, versions)
      const isHarmless = component === 'buildkit' && isUnused && outcome.status !== 'ok'
      return [checkNames[component], isHarmless ? unusedBuildKit(versions) : outcome] as const
    })
}

const unusedBuildKit = (versions: EngineVersions): Outcome =>
  ok(`${subjectOf('buildkit', versions)} has known holes, and no build runs on it.`)

/** Pure: says which engine to install. */
export const installEngine = (): string =>
  `Install Docker Engine ${anyOf(safeVersions('engine'))} from https://docs.docker.com/engine/install/.`

function checkComponent(component: Component, versions: EngineVersions): Outcome {
  const isOf = (hole: Hole): boolean => hole.component === component
  const reachable = reachableHolesOf(versions).filter(isOf)
  const subject = subjectOf(component, versions)
  if (reachable.length > 0)
    return warn(`${subject} has known holes: ${reachable.map(described).join('; ')}.`, remedyOf(component, versions))
  const others = holesOf(versions).filter(isOf)
  return ok(
    others.length === 0
      ? `${subject} has no hole that this version of Quayside knows.`
      : `${subject} has only holes in parts that the platform does not use: ${others.map(({ id }) => id).join(', ')}.`,
  )
}

function subjectOf(component: Component, versions: EngineVersions): string {
  const found = versions[component]
  if (!found) return `The ${names[component]} inside of the Docker Engine ${versions.engine?.version ?? ''}`
  return `${names[component]} ${found.package ?? found.version}`
}

const described = ({ id, impact, source }: Hole): string => `${id}: ${impact} (${source})`

function remedyOf(component: Component, versions: EngineVersions): string {
  const isInside = component === 'buildkit' && !versions.buildkit
  const install =
    component === 'engine' || isInside
      ? installEngine()
      : `Install ${names[component]} ${anyOf(safeVersions(component))}. Packages of Docker have it: ` +
        'https://docs.docker.com/engine/install/.'
  return `${install} If your distribution fixes older versions, see its security tracker.`
}

function anyOf(versions: readonly string[]): string {
  const [newest, ...older] = versions.toReversed()
  return older.length === 0
    ? `${newest} or newer`
    : `${older.toReversed().join(', ')} of the older lines, or ${newest} or newer`
}
