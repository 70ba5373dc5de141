import { AppError } from '../lib/error.ts'
import { checkDescription, checkKey, checkMountPath, checkValue } from './names.ts'
import type { VariableChanges, VariableRow } from './variable-store.ts'

/** The request for a new variable or secret. Absent and null mean the same. */
export interface NewVariable {
  readonly key: string
  readonly value?: string | null | undefined
  /** If set, the value is the content of a file at this path. */
  readonly mount_path?: string | null | undefined
  readonly description?: string | null | undefined
  readonly enable_interpolation_in_file?: boolean | null | undefined
}

/**
 * The request for an edit. Absent: unchanged. Null: cleared, except that `value: null` keeps a
 * secret's value.
 */
export type EditedVariable = Partial<NewVariable>

/**
 * Returns the checked form of a new variable, with its plain text. Throws AppError `invalid`, which
 * names the field.
 */
export function planNew(input: NewVariable) {
  const key = checkKey(input.key)
  if (input.value === undefined || input.value === null)
    throw new AppError('invalid', 'value: required; it may be empty')
  const mount_path =
    input.mount_path === undefined || input.mount_path === null ? null : checkMountPath(input.mount_path)
  return {
    key,
    text: checkValue(input.value),
    mount_path,
    variable_type: mount_path === null ? ('VALUE' as const) : ('FILE' as const),
    description: checkDescription(input.description ?? ''),
    enable_interpolation_in_file: input.enable_interpolation_in_file ?? false,
  }
}

/** The properties that an alias or override inherits from its base. */
export interface Standing {
  readonly baseKey: string | undefined
  readonly mountPath: string | null
}

/** The result of an edit: changed columns, and the new text if there is one. */
export interface Edit {
  readonly changes: Omit<VariableChanges, 'value' | 'sealed_value'>
  readonly text: string | undefined
  /** Whether the next deployment would differ. */
  readonly isEffective: boolean
}

/**
 * Returns the differences between an edit and the row. The key and the mount path of an override
 * cannot change, nor the target and the mount path of an alias. Throws AppError `invalid`, which
 * names the field.
 */
export function planEdit(row: VariableRow, standing: Standing, input: EditedVariable): Edit {
  const key = editedKey(row, input.key)
  const text = editedText(row, standing, input.value)
  const place = editedPlace(row, standing, input.mount_path)
  const isInterpolated =
    input.enable_interpolation_in_file === undefined ? undefined : (input.enable_interpolation_in_file ?? false)
  const effective = {
    ...(key !== row.key && { key }),
    ...place,
    ...(isInterpolated !== undefined &&
      isInterpolated !== row.enable_interpolation_in_file && { enable_interpolation_in_file: isInterpolated }),
  }
  const description = input.description === undefined ? row.description : checkDescription(input.description ?? '')
  return {
    changes: { ...effective, ...(description !== row.description && { description }) },
    text,
    isEffective: text !== undefined || Object.keys(effective).length > 0,
  }
}

function editedKey(row: VariableRow, key: string | undefined): string {
  if (key === undefined || key === row.key) return row.key
  if (row.variable_type === 'OVERRIDE')
    throw new AppError('invalid', `key: an override has the key of what it overrides, ${row.key}; it cannot be renamed`)
  return checkKey(key)
}

function editedText(row: VariableRow, standing: Standing, value: string | null | undefined): string | undefined {
  if (value === undefined || (value === null && row.is_secret)) return undefined
  if (row.variable_type === 'ALIAS') {
    // A client that reads an alias and writes it back sends the target's key as its value.
    if (value === standing.baseKey && !row.is_secret) return undefined
    throw new AppError('invalid', 'value: an alias has the value of its target; edit the target')
  }
  if (value === null) throw new AppError('invalid', 'value: required; it may be empty')
  return checkValue(value) === row.value ? undefined : value
}

function editedPlace(row: VariableRow, standing: Standing, path: string | null | undefined) {
  if (path === undefined || path === standing.mountPath) return {}
  if (row.variable_type === 'ALIAS' || row.variable_type === 'OVERRIDE')
    throw new AppError(
      'invalid',
      `mount_path: an ${row.variable_type.toLowerCase()} is mounted where its base is; edit the base`,
    )
  if (path === null) return { mount_path: null, variable_type: 'VALUE' as const }
  return { mount_path: checkMountPath(path), variable_type: 'FILE' as const }
}
