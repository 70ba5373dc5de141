import { AppError } from '../lib/error.ts'
import { checkKey, checkValue } from './names.ts'
import { rankOf, type Scope } from './scope.ts'

type ScopeName = Scope['scope']

/** One variable of an import request. */
export interface ImportedVariable {
  readonly name: string
  readonly value: string
  readonly scope: string
  readonly is_secret: boolean
}

/** An existing variable that is reachable from the service. */
export interface Present {
  readonly id: string
  readonly key: string
  readonly scope: ScopeName
  readonly isAlias: boolean
  readonly isSecret: boolean
}

/** A variable to create. With a base it is an override. */
export interface Creation {
  readonly id: string
  readonly key: string
  readonly scope: ScopeName
  readonly isSecret: boolean
  readonly baseId: string | null
  readonly text: string
}
/** An existing variable that gets a new text. */
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
  /** The written variables, in the order of the request. */
  readonly written: readonly V[]
}

export interface ImportRules {
  /** If false, existing variables are not changed. */
  readonly overwrite: boolean
  /** All variables that are reachable from the service, in any order. */
  readonly present: readonly Present[]
  readonly builtInKeys: ReadonlySet<string>
  /** The API's name for the scope of the importing service. */
  readonly ownScope: string
  readonly newId: () => string
}

/**
 * Plans an import, one variable after the other. A new name is created. For an existing name,
 * `overwrite` replaces the text at the same scope and creates an override at a narrower one. The
 * narrowest variable of a name counts. Built-in names and aliases are skipped. So are a scope wider
 * than that of the existing variable, a scope of services of another kind, and a secret with the
 * name of a variable or the other way round. Throws AppError `invalid`, which names the fields. In
 * that case nothing is planned.
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

/** Maximum number of names in one message. */
const mostNamed = 10

/** Returns the scopes of all variables. Throws if at least one variable is invalid. */
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
