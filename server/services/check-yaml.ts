import { inWorker, OverLimit } from '../lib/in-worker.ts'
import { type NamedText, yamlMappings, yamlProblemOf } from './yaml.ts'

const module = new URL('yaml.ts', import.meta.url)
/** The most characters that are read in this thread: starting a worker takes longer than that. */
const mostHere = 1024

/**
 * Returns the first error among these strings that are not mappings in plain YAML, with its field.
 * Undefined if all are valid.
 */
export async function firstYamlProblem(texts: readonly NamedText[]): Promise<string | undefined> {
  const size = texts.reduce((sum, { text }) => sum + text.length, 0)
  if (size <= mostHere) return yamlProblemOf(texts)
  const problem = await inWorker({ module, name: 'yamlProblemOf', argument: texts }).catch((error: unknown) => {
    if (error instanceof OverLimit)
      return `${texts[0]?.field ?? 'the YAML'} and other YAML fields take ${error.message} to read; make them simpler`
    throw error
  })
  return typeof problem === 'string' ? problem : undefined
}

/** Returns the content of YAML mappings that `firstYamlProblem` found valid. */
export async function readMappings(texts: readonly string[]): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const size = texts.reduce((sum, text) => sum + text.length, 0)
  if (size <= mostHere) return yamlMappings(texts)
  const read = await inWorker({ module, name: 'yamlMappings', argument: texts })
  if (!Array.isArray(read)) throw new Error('the worker returned no list')
  return read.map((one) => Object(one))
}
