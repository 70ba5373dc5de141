import { compareDebian } from './debian-version.ts'
import { type Hole, holes } from './known-hole-table.ts'

export type { Hole } from './known-hole-table.ts'

/** The programs that run containers and build steps. */
export type Component = 'engine' | 'buildkit' | 'runc' | 'containerd'

/** The version of a program: its own, and that of its Debian package if it is known. */
export interface ComponentVersion {
  readonly version: string
  readonly package?: string | undefined
}

/**
 * Versions as an engine reports them. Without `buildkit`, the BuildKit is the one inside of the
 * engine.
 */
export type EngineVersions = Readonly<Partial<Record<Component, ComponentVersion>>>

/**
 * Pure: returns the known holes of these versions. A component without a readable version has none.
 * Holes of BuildKits inside of an engine follow from the engine's version.
 */
export const holesOf = (versions: EngineVersions): readonly Hole[] => holes.filter((hole) => applies(hole, versions))

/**
 * Pure: returns the holes that tenants of the platform can reach. The others need a part that the
 * platform does not use, such as authorization plugins.
 */
export const reachableHolesOf = (versions: EngineVersions): readonly Hole[] =>
  holesOf(versions).filter(({ onlyWith }) => onlyWith === undefined)

/**
 * Pure: returns the component by whose version a hole is judged. For a BuildKit of unknown version
 * that is the engine around it.
 */
export const judgedBy = (hole: Hole, versions: EngineVersions): Component =>
  hole.component === 'buildkit' && !versions.buildkit ? 'engine' : hole.component

/**
 * Pure: returns the first versions without any hole that tenants can reach, one for each release
 * line, oldest first.
 */
export function safeVersions(component: Component): readonly string[] {
  const bounds = holes.flatMap((hole) => (hole.component === component ? hole.fixed : []))
  const released = [...new Set(bounds)].filter((version) => !version.includes('rc'))
  const safe = released.filter((version) => reachableHolesOf({ [component]: { version } }).every(isOf(component)))
  return safe.toSorted((left, right) => compare(numbersOf(left) ?? [], numbersOf(right) ?? []))
}

/** A BuildKit inside of an engine is judged with it, and is not a hole of the engine itself. */
const isOf = (component: Component) => (hole: Hole) => hole.component !== component

function applies(hole: Hole, versions: EngineVersions): boolean {
  const component = judgedBy(hole, versions)
  const found = versions[component]
  if (!found) return false
  const fixed = component === hole.component ? hole.fixed : (hole.fixedInEngine ?? [])
  if (fixed.length === 0 || isFixed(found.version, fixed)) return false
  return !isFixedByPackage(found.package, hole.fixedInDebian ?? [])
}

/** A version is fixed if it is not below the fix of its release line, or is above all fixes. */
function isFixed(version: string, fixed: readonly string[]): boolean {
  const own = numbersOf(version)
  if (!own) return true
  const bounds = fixed.map(numbersOf).filter((bound) => bound !== undefined)
  const ofLine = bounds.find(([major, minor]) => major === own[0] && minor === own[1])
  return ofLine ? compare(own, ofLine) >= 0 : bounds.every((bound) => compare(own, bound) > 0)
}

function isFixedByPackage(version: string | undefined, fixed: readonly string[]): boolean {
  if (version === undefined) return false
  const upstream = upstreamOf(version)
  return fixed.some((bound) => upstreamOf(bound) === upstream && compareDebian(version, bound) >= 0)
}

const upstreamOf = (version: string): string => version.slice(0, Math.max(0, version.lastIndexOf('-')))

/**
 * Returns major, minor, patch and the number of the release candidate: `1.0.0~rc93`, `1.4.0-rc.3`.
 * A release such as `20.10.24+dfsg1` is above all its candidates.
 */
function numbersOf(text: string): readonly number[] | undefined {
  const [, major, minor, patch = '0', candidate] =
    /(?<!\d)(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(?:[-~]rc\.?(\d{1,9}))?/.exec(text) ?? []
  if (major === undefined) return undefined
  return [Number(major), Number(minor), Number(patch), candidate === undefined ? Infinity : Number(candidate)]
}

function compare(left: readonly number[], right: readonly number[]): number {
  const at = left.findIndex((number, index) => number !== right[index])
  return at < 0 ? 0 : (left[at] ?? 0) < (right[at] ?? 0) ? -1 : 1
}
