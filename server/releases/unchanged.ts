import type { LongRunning } from '../engines/index.ts'
import { Secret } from '../lib/secret.ts'
import { basicAuthSetting } from './basic-auth.ts'

/** The content that a release gives to its engine. */
export interface ReleaseContent {
  /** The workload. All members are compared. */
  readonly workload: Pick<LongRunning, 'image' | 'variables' | 'files'>
  /** The digest of the image; empty if unknown. */
  readonly digest: string
  /** The variable with the passwords for the router; empty if it requires none. */
  readonly passwordsIn: string
}

/**
 * Pure: returns the differences between two releases, such as `image`, `memoryMiB`, `variable KEY`,
 * `file /path`. Empty if starting the second would make no difference. Values that differ with
 * every deployment are ignored.
 */
export function changesOf(before: ReleaseContent, after: ReleaseContent): string[] {
  const [old, young] = [comparable(before), comparable(after)]
  const members = changedKeys(old.members, young.members)
  const isSameImage = before.digest !== '' && before.digest === after.digest
  return [
    ...(isSameImage ? [] : ['image']),
    ...(before.passwordsIn === after.passwordsIn ? [] : [basicAuthSetting]),
    ...members,
    ...changedKeys(old.variables, young.variables).map((key) => `variable ${key}`),
    ...changedKeys(old.files, young.files).map((path) => `file ${path}`),
  ]
}

type Texts = ReadonlyMap<string, string>

const deploymentId = 'QOVERY_DEPLOYMENT_ID'
/**
 * Variables that differ with every deployment: its id, and the commits of other services of the
 * environment.
 */
export const ofEachDeployment = /^QOVERY_(?:DEPLOYMENT_ID|[A-Z]+_Z[0-9A-F]+_GIT_COMMIT_ID)$/

function comparable({ workload }: ReleaseContent): Record<'members' | 'variables' | 'files', Texts> {
  const { image: _, variables, files, ...members } = workload
  const id = textOf(variables[deploymentId] ?? '')
  // Values that contain the id of the deployment always differ too.
  const text = (value: string | Secret): string =>
    id === '' ? textOf(value) : textOf(value).replaceAll(id, deploymentId)
  return {
    members: new Map(Object.entries(members).map(([name, value]) => [name, sorted(value)])),
    variables: new Map(
      Object.entries(variables).flatMap(([key, value]) => (ofEachDeployment.test(key) ? [] : [[key, text(value)]])),
    ),
    files: new Map(files.map(({ path, content }) => [path, text(content)])),
  }
}

const textOf = (value: string | Secret): string => (value instanceof Secret ? value.reveal() : value)

/** Serialises a value with sorted members, so equal values give equal text. */
export function sorted(value: unknown): string {
  if (value instanceof Secret) return sorted(value.reveal())
  if (Array.isArray(value)) return `[${value.map(sorted).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${sorted(inner)}`).join()}}`
}

const changedKeys = (old: Texts, young: Texts): string[] =>
  [...new Set([...old.keys(), ...young.keys()])].filter((key) => old.get(key) !== young.get(key)).sort()
