import { readHelmYaml } from '../lib/helm-yaml.ts'
import { emptyTree, isTree, mergeTrees, setValue, typedValue, type ValueTree } from './set-values.ts'

/** A file of values: its name for messages, and its content. */
export interface ValuesFile {
  readonly name: string
  readonly content: string
}

/** All values that users give a chart. */
export interface ValuesInput {
  readonly files: readonly ValuesFile[]
  readonly set_json: readonly (readonly string[])[]
  readonly set: readonly (readonly string[])[]
  readonly set_string: readonly (readonly string[])[]
  /** The variables of the service, with secrets in plain form. */
  readonly variables: Readonly<Record<string, string>>
}

/** A place in the values of users that names a variable. */
export interface ValuesReference {
  /** `set "image.tag"`, or the name of a file. */
  readonly where: string
  readonly key: string
}

/** Returns the variables that values name, each place once. Pure. */
export function referencesOf({ files, ...values }: Omit<ValuesInput, 'variables'>): readonly ValuesReference[] {
  const pairs = Object.entries(values).flatMap(([name, list]) =>
    list.map(([path = '', text = '']) => ({ where: `${name} "${path.slice(0, 100)}"`, text })),
  )
  const places = [...files.map(({ name, content }) => ({ where: name, text: content })), ...pairs]
  return places.flatMap(({ where, text }) => {
    const found = text.replace(inBraces, 'qovery.env.$1').matchAll(reference)
    return [...new Set([...found].map(([, key = '']) => key))].map((key) => ({ where, key }))
  })
}

/** The values as one JSON object, or why there are none. */
export type ChartValues = { readonly json: string } | { readonly problem: string }

/** A message for users. */
class ValuesProblem extends Error {}

/** A reference to a variable: `qovery.env.KEY`, or `{{KEY}}`. */
const reference = /qovery\.env\.([A-Za-z][A-Za-z0-9_]{0,254})/g
const inBraces = /\{\{([A-Za-z][A-Za-z0-9_]{0,254})\}\}/g
const onlyReference = /^qovery\.env\.([A-Za-z][A-Za-z0-9_]{0,254})$/

/**
 * Returns the values of a chart in the order of Helm: files, then `set_json`, `set` and
 * `set_string`. References to variables are replaced after the YAML is read, so no value of a
 * variable can change its form. Runs in a worker.
 */
export function valuesOfChart(input: ValuesInput): ChartValues {
  try {
    let tree = emptyTree()
    for (const file of input.files) tree = mergeTrees(tree, readFile(file, input.variables))
    const filled = (text: string): string => fill(text.replace(inBraces, 'qovery.env.$1'), input.variables, 'set')
    for (const [path = '', text = ''] of input.set_json) setValue(tree, path, jsonOf(path, text, input.variables))
    for (const [path = '', text = ''] of input.set) setValue(tree, path, typedValue(filled(text)))
    for (const [path = '', text = ''] of input.set_string) setValue(tree, path, filled(text))
    return { json: JSON.stringify(tree) }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

function readFile({ name, content }: ValuesFile, variables: ValuesInput['variables']): ValueTree {
  // Without quotes, `{{KEY}}` would be a mapping of YAML.
  const text = content.replace(inBraces, 'qovery.env.$1')
  const read = readHelmYaml(text, (scalar, isPlain) => {
    const [, key] = onlyReference.exec(scalar) ?? []
    const filled = fill(scalar, variables, name)
    return key !== undefined && isPlain ? typedValue(filled) : filled
  })
  if ('problem' in read) throw new ValuesProblem(`${name}, line ${read.line}: ${read.problem}`)
  const [document = {}, ...more] = read.documents
  if (more.length > 0 || !isTree(document)) throw new ValuesProblem(`${name} must be one YAML mapping`)
  return document
}

function jsonOf(path: string, text: string, variables: ValuesInput['variables']): unknown {
  try {
    return JSON.parse(text, (_, value) =>
      typeof value === 'string' ? fill(value.replace(inBraces, 'qovery.env.$1'), variables, 'set_json') : value,
    )
  } catch (error) {
    if (error instanceof ValuesProblem) throw error
    throw new ValuesProblem(`set_json "${path.slice(0, 100)}" is not JSON`)
  }
}

/** Replaces references. Throws ValuesProblem for a variable that does not exist. */
function fill(text: string, variables: ValuesInput['variables'], where: string): string {
  return text.replace(reference, (_, key: string) => {
    if (Object.hasOwn(variables, key)) return variables[key] ?? ''
    throw new ValuesProblem(`${where} refers to the variable ${key}, which the service does not have`)
  })
}
