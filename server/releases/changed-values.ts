import { Secret } from '../lib/secret.ts'
import { ofEachDeployment, type ReleaseContent } from './unchanged.ts'

/** A variable or file of a workload that differs. Texts of secrets are never returned. */
export interface ChangedValue {
  readonly kind: 'VARIABLE' | 'FILE'
  /** The key of the variable, or the path of the file. */
  readonly name: string
  /** Null if it is a secret or did not exist. */
  readonly before: string | null
  /** Null if it is a secret or no longer exists. */
  readonly after: string | null
  readonly is_secret: boolean
}

type Text = string | Secret

/** Pure: returns the variables and files that differ between two releases, with their values. */
export function changedValues(before: ReleaseContent, after: ReleaseContent): ChangedValue[] {
  const [old, young] = [before.workload, after.workload]
  const filesOf = (files: typeof old.files) => new Map<string, Text>(files.map(({ path, content }) => [path, content]))
  const variables = changed(
    'VARIABLE',
    new Map(Object.entries(old.variables)),
    new Map(Object.entries(young.variables)),
  )
  return [
    ...variables.filter(({ name }) => !ofEachDeployment.test(name)),
    ...changed('FILE', filesOf(old.files), filesOf(young.files)),
  ]
}

const reveal = (text: Text | undefined): string | undefined => (text instanceof Secret ? text.reveal() : text)

function changed(
  kind: ChangedValue['kind'],
  old: ReadonlyMap<string, Text>,
  young: ReadonlyMap<string, Text>,
): ChangedValue[] {
  const names = [...new Set([...old.keys(), ...young.keys()])].sort()
  return names.flatMap((name) => {
    const [before, after] = [old.get(name), young.get(name)]
    if (reveal(before) === reveal(after)) return []
    const isSecret = before instanceof Secret || after instanceof Secret
    return [{ kind, name, before: shown(before, isSecret), after: shown(after, isSecret), is_secret: isSecret }]
  })
}

const shown = (text: Text | undefined, isSecret: boolean): string | null =>
  isSecret || text === undefined || text instanceof Secret ? null : text
