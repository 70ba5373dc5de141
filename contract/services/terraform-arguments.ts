/** The actions of a stack to which arguments can be added. */
export const argumentActions = ['init', 'validate', 'plan', 'apply', 'destroy', 'fmt'] as const
export type ArgumentAction = (typeof argumentActions)[number]

/** `switch` stands alone, `boolean` may have true or false, `path` is a path in the repository. */
type Form = 'switch' | 'boolean' | 'value' | 'path'

const planned: Readonly<Record<string, Form>> = {
  'compact-warnings': 'boolean',
  exclude: 'value',
  'lock-timeout': 'value',
  parallelism: 'value',
  refresh: 'boolean',
  replace: 'value',
  target: 'value',
  var: 'value',
  'var-file': 'path',
}
/** The arguments that can be added, by action. All others would leak, escape or have no effect. */
const allowed: Readonly<Record<ArgumentAction, Readonly<Record<string, Form>>>> = {
  init: { 'backend-config': 'value', get: 'boolean', reconfigure: 'switch', upgrade: 'boolean' },
  plan: planned,
  apply: { 'compact-warnings': 'boolean', 'lock-timeout': 'value', parallelism: 'value' },
  destroy: planned,
  validate: {},
  fmt: {},
}

/** Returns why an argument cannot be added to an action; undefined if it can. */
export function argumentRefusal(action: ArgumentAction, argument: string): string | undefined {
  const forms = allowed[action]
  const names = Object.keys(forms)
  if (names.length === 0) return `must be empty: the platform does not run "${action}"`
  const equals = argument.indexOf('=')
  const word = equals === -1 ? argument : argument.slice(0, equals)
  const value = equals === -1 ? undefined : argument.slice(equals + 1)
  const form = /^--?[a-z-]+$/.test(word) ? forms[word.replace(/^--?/, '')] : undefined
  if (form === undefined || !Object.hasOwn(forms, word.replace(/^--?/, ''))) {
    const hint = action === 'apply' ? '; the plan decides the rest, so add arguments to "plan"' : ''
    return `must be one of ${names.map((name) => `-${name}`).join(', ')}${hint}`
  }
  return valueRefusal(form, word, value)
}

function valueRefusal(form: Form, word: string, value: string | undefined): string | undefined {
  if (form === 'switch') return value === undefined ? undefined : `must be ${word} without a value`
  if (form === 'boolean') {
    return value === undefined || value === 'true' || value === 'false'
      ? undefined
      : 'must have the value true or false'
  }
  if (value === undefined || value === '') return `must have its value after "=": ${word}=…`
  if (/[\0\n\r]/.test(value)) return 'must be one line'
  if (form === 'path' && (value.startsWith('/') || value.split('/').includes('..'))) {
    return 'must be a path below the directory of the stack'
  }
  return undefined
}
