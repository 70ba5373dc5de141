import { AppError } from '../lib/error.ts'
import { ForeignJsonProblem, parseForeign } from '../lib/foreign-json.ts'
import type { ServiceOutput } from '../variables/index.ts'

/** The file in which a job writes variables for other services of its environment. */
export const outputFile = '/qovery-output/qovery-output.json'

/**
 * Parses the output file, `{KEY: {value, sensitive?, description?}}`. Numbers and booleans are
 * taken as written. Throws AppError `invalid`, which names the problem without any value.
 */
export function parseOutputs(text: string): ServiceOutput[] {
  const outputs = parsed(text)
  if (!isObject(outputs)) throw wrong('must contain an object of outputs by name')
  return Object.entries(outputs).map(([key, output]) => {
    const name = JSON.stringify(key.slice(0, 60))
    if (!isObject(output)) throw wrong(`has ${name}, which must be an object with a value`)
    const { value, sensitive = false, description = '' } = output
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      throw wrong(`has ${name}, whose value must be a string, a number or a boolean`)
    if (typeof sensitive !== 'boolean') throw wrong(`has ${name}, whose sensitive must be true or false`)
    if (description !== null && typeof description !== 'string')
      throw wrong(`has ${name}, whose description must be a string`)
    return { key, value: String(value), isSecret: sensitive, description: description ?? '' }
  })
}

function parsed(text: string): unknown {
  try {
    return parseForeign(Buffer.from(text))
  } catch (error) {
    if (!(error instanceof ForeignJsonProblem)) throw error
    throw wrong(error.message)
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const wrong = (what: string): AppError => new AppError('invalid', `The output file ${outputFile} ${what}.`)
