import type { Variable, VariablePlace } from '../api/reads-variables.ts'
import type { EnvEntry } from './parse-env.ts'

/** The effect of one line of a .env file. */
export interface EnvStep extends EnvEntry {
  readonly effect: 'create' | 'override' | 'change' | 'same' | 'skip'
  readonly isSecret: boolean
  /** The variable that is changed or overridden. */
  readonly id?: string
  readonly why?: string
}

/** Pure: compares a .env file with the variables that are visible at its place. */
export function planEnv(
  entries: readonly EnvEntry[],
  present: readonly Variable[],
  { scope, areSecrets }: { readonly scope: VariablePlace['scope']; readonly areSecrets: boolean },
): readonly EnvStep[] {
  const byKey = new Map<string, Variable>()
  for (const one of present) if (byKey.get(one.key)?.scope !== scope) byKey.set(one.key, one)
  return entries.map((entry) => {
    const found = byKey.get(entry.key)
    if (!found) return { ...entry, effect: 'create', isSecret: areSecrets }
    const known = { ...entry, id: found.id, isSecret: found.is_secret }
    if (found.variable_type === 'BUILT_IN') return { ...known, effect: 'skip', why: 'the platform makes it' }
    if (found.variable_type === 'ALIAS') return { ...known, effect: 'skip', why: 'it is an alias' }
    if (found.scope !== scope) return { ...known, effect: 'override', why: `hides that of the ${wordOf(found.scope)}` }
    if (found.is_secret) return { ...known, effect: 'change', why: 'it is a secret: its value cannot be compared' }
    return { ...known, effect: found.value === entry.value ? 'same' : 'change' }
  })
}

/** Pure: a scope in words. */
export const wordOf = (scope: string): string => scope.toLowerCase().replace('_', '-')
