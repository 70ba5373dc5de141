import { AppError } from '../lib/error.ts'
import { checkKey, checkValue } from './names.ts'
import { rankOf, type Scope } from './scope.ts'

type ScopeName = Scope['scope']

/** One variable as a caller sends it. */
export interface ImportedVariable {
  readonly name: string
  readonly value: string
  readonly scope: string
  readonly is_secret: boolean
}

/** What is there under a name, as far as it can be reached from the service. */
export interface Present {
  readonly id: string
  readonly key: string
  readonly scope: ScopeName
  readonly isAlias: boolean
  readonly isSecret: boolean
}

/** A variable that is to be made; with a base it is an override. */
export interface Creation {
  readonly id: string
  readonly key: string
  readonly scope: ScopeName
  readonly isSecret: boolean
  readonly baseId: string | null
  readonly text: string
}
/** A variable that is there and gets another text. */
export interface Replacement {
  readonly id: string
  readonly key: string
  readonly scope: ScopeName
  readonly isSecret: boolean
  readonly text: string
}

export interface ImportPlan<V extends ImportedVariable> {
  readonly creations: readonly Creation[]
  readonly replacements: readonly Replacement[]
  /** Those that are written, in the order in which they were sent. */
  readonly written: readonly V[]
}

export interface ImportRules {
  /** Else nothing that is there is changed. */
  readonly overwrite: boolean
  /** Everything that is reachable from the service, in any order. */
  readonly present: readonly Present[]
  readonly builtInKeys: ReadonlySet<string>
  /** The API's name for the scope of the service that the import is for. */
  readonly ownScope: string
  readonly newId: () => string
}

/**
 * What an import does. One after the other: a name that is free is made; where there is one, `overwrite` replaces its text at
 * the same scope and overrides it at a narrower one. The narrowest of a name counts. Skipped are built-in names, aliases, a
 * scope that is wider than that of the one there, a scope of services of another kind, and a secret for a variable or the other way round.
 * Throws AppError `invalid` that names the fields, and then nothing is to be done.
 */
export function planImport<V extends ImportedVariable>(vars: readonly V[], rules: ImportRules): ImportPlan<V> {
  const scopes = checkAll(vars, rules.builtInKeys)
  const narrowest = new Map<string, Present>()
  for (const one of rules.present) {
    const other = narrowest.get(one.key)
    if (!other || rankOf(other.scope) < rankOf(one.scope)) narrowest.set(one.key, one)
  }
  const creations = new Map<string, Creation>()
  const replacements = new Map<string, Replacement>()
  const written: V[] = []
  for (const [index, variable] of vars.entries()) {
    const { name: key, value: text, is_secret: isSecret } = variable
    const scope = scopes[index] ?? 'SERVICE'
    if (scope === 'SERVICE' && variable.scope !== rules.ownScope) continue
    const found = narrowest.get(key)
    if (rules.builtInKeys.has(key) || (found && isSkipped(found, scope, isSecret, rules.overwrite))) continue
    written.push(variable)
    if (found?.scope === scope) {
      const { id } = found
      const made = creations.get(id)
      if (made) creations.set(id, { ...made, text })
      else replacements.set(id, { id, key, scope, isSecret, text })
      continue
    }
    const id = rules.newId()
    creations.set(id, { id, key, scope, isSecret, baseId: found?.id ?? null, text })
    narrowest.set(key, { id, key, scope, isAlias: false, isSecret })
  }
  return { creations: [...creations.values()], replacements: [...replacements.values()], written }
}

const isSkipped = (found: Present, scope: ScopeName, isSecret: boolean, overwrite: boolean): boolean =>
  !overwrite || found.isAlias || found.isSecret !== isSecret || rankOf(scope) < rankOf(found.scope)

/** As many as a sentence can hold. */
const mostNamed = 10

/** The scopes of all; throws where one variable at least is not valid. */
function checkAll(vars: readonly ImportedVariable[], builtInKeys: ReadonlySet<string>): ScopeName[] {
  const wrong: string[] = []
  const scopes = vars.map((variable, index) => {
    try {
      return check(variable, builtInKeys)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      wrong.push(`vars[${index}].${error.message.replace(/^key:/, 'name:')}`)
      return 'SERVICE'
    }
  })
  const [first, ...others] = wrong
  if (first === undefined) return scopes
  const named = others.slice(0, mostNamed - 1).map((message) => message.split(':')[0])
  const rest = others.length > named.length ? ` and ${others.length - named.length} more` : ''
  throw new AppError('invalid', others.length === 0 ? first : `${first}; also not valid: ${named.join(', ')}${rest}`)
}

function check({ name, value, scope }: ImportedVariable, builtInKeys: ReadonlySet<string>): ScopeName {
  if (!builtInKeys.has(name)) checkKey(name)
  checkValue(value)
  if (scope === 'BUILT_IN')
    throw new AppError('invalid', 'scope: built-in variables are made by the platform; choose another scope')
  return scope === 'PROJECT' || scope === 'ENVIRONMENT' ? scope : 'SERVICE'
}
