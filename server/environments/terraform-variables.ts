import type { OwnVariable } from '../variables/index.ts'
import type { Hcl } from './hcl.ts'

/** Sorts variables into the provider's lists: one per type, with separate lists for secrets. */
export function variableLists(
  variables: readonly OwnVariable[],
  secret: (record: OwnVariable) => Hcl,
): Readonly<Record<string, readonly Hcl[]>> {
  const lists: Record<string, Hcl[]> = {}
  for (const record of variables) {
    const { key, description, is_secret, mount_path } = record
    const name = `${is_secret ? 'secret' : 'environment_variable'}${suffixes[record.variable_type]}`
    const base = record.base_key
    const value = record.variable_type === 'ALIAS' ? (base ?? '') : is_secret ? secret(record) : (record.value ?? '')
    const file = record.variable_type === 'FILE' && mount_path ? { mount_path } : {}
    lists[name] = [...(lists[name] ?? []), { key, value, ...file, ...(description && { description }) }]
  }
  return lists
}

const suffixes: Readonly<Record<OwnVariable['variable_type'], string>> = {
  VALUE: 's',
  FILE: '_files',
  ALIAS: '_aliases',
  OVERRIDE: '_overrides',
}
