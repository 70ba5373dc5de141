import { AppError } from '../lib/error.ts'
import type { BuiltIn } from './built-ins.ts'
import { checkDescription, checkKey, checkValue } from './names.ts'
import { scopeOf } from './record.ts'
import { nameOf, rankOf, type Scope } from './scope.ts'
import type { VariableRow } from './variable-store.ts'

/** The request for an alias (a key) or an override (a value). Absent and null mean the same. */
export type NewStanding = { readonly description?: string | null | undefined } & {
  readonly enable_interpolation_in_file?: boolean | null | undefined
} & ({ readonly type: 'ALIAS'; readonly key: string } | { readonly type: 'OVERRIDE'; readonly value: string })

/** The base of an alias or override. */
export type Base = { readonly row: VariableRow } | { readonly builtIn: BuiltIn }

/**
 * Returns the checked form of a new alias or override at the scope. `text` is undefined for an
 * alias. Throws AppError `invalid` for an alias of an alias, and for an override that is not
 * narrower than its base.
 */
export function planStanding(scope: Scope, base: Base, input: NewStanding) {
  const remarks = {
    description: checkDescription(input.description ?? ''),
    enable_interpolation_in_file: input.enable_interpolation_in_file ?? false,
    ...('row' in base
      ? { base_id: base.row.id, base_built_in_id: null, is_secret: base.row.is_secret }
      : { base_id: null, base_built_in_id: base.builtIn.id, is_secret: base.builtIn.isSecret }),
  }
  if (input.type === 'ALIAS') {
    const key = checkKey(input.key)
    if ('row' in base && base.row.variable_type === 'ALIAS')
      throw new AppError('invalid', `${base.row.key} is an alias itself; create an alias of its target`)
    return { ...remarks, key, variable_type: 'ALIAS' as const, text: undefined }
  }
  const text = checkValue(input.value)
  checkNarrower(scope, base)
  const key = 'row' in base ? base.row.key : base.builtIn.key
  return { ...remarks, key, variable_type: 'OVERRIDE' as const, text }
}

function checkNarrower(scope: Scope, base: Base): void {
  if (!('row' in base) || rankOf(scopeOf(base.row)) < rankOf(scope.scope)) return
  const here = nameOf(scope.scope, scope.scope === 'SERVICE' ? scope.kind : undefined)
  const message =
    `${base.row.key} belongs to this ${here} already, and only a variable of a wider scope is overridden; edit ` + 'it'
  throw new AppError('invalid', message)
}
