import { AppError } from '../lib/error.ts'
import type { ServiceOutput } from '../variables/index.ts'

/** Where a job writes what other services of its environment get as variables. */
export const outputFile = '/qovery-output/qovery-output.json'

/**
 * Pure: what the file says, `{KEY: {value, sensitive?, description?}}`. Values that are numbers or booleans are taken as they are written.
 * Throws AppError `invalid` that names what is wrong, without any value.
 */
export function parseOutputs(text: string): ServiceOutput[] {
  const outputs = parsed(text)
  if (!isObject(outputs)) throw wrong('must hold an object of outputs by their names')
  return Object.entries(outputs).map(([key, output]) => {
    const name = JSON.stringify(key.slice(0, 60))
    if (!isObject(output)) throw wrong(`has ${name}, which must be an object with a value`)
    const { value, sensitive = false, description = '' } = output
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      throw wrong(`has ${name}, whose value must be a text, a number or a boolean`)
    if (typeof sensitive !== 'boolean') throw wrong(`has ${name}, whose sensitive must be true or false`)
    if (description !== null && typeof description !== 'string')
      throw wrong(`has ${name}, whose description must be a text`)
    return { key, value: String(value), isSecret: sensitive, description: description ?? '' }
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own words quote the text, which may be secret.
    throw wrong('is no JSON')
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const wrong = (what: string): AppError => new AppError('invalid', `The output file ${outputFile} ${what}.`)
