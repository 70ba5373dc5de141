import { inWorker, OverLimit } from '../lib/in-worker.ts'
import { type NamedText, yamlProblemOf } from './yaml.ts'

const module = new URL('yaml.ts', import.meta.url)
/** So much is read at once, whatever it is: less than a thread takes to begin. */
const mostHere = 1024

/**
 * Why the first of these texts that is no mapping in plain YAML is none, with its field; undefined
 * where all are.
 */
export async function firstYamlProblem(texts: readonly NamedText[]): Promise<string | undefined> {
  const size = texts.reduce((sum, { text }) => sum + text.length, 0)
  if (size <= mostHere) return yamlProblemOf(texts)
  const problem = await inWorker({ module, name: 'yamlProblemOf', argument: texts }).catch((error: unknown) => {
    if (error instanceof OverLimit)
      return `${texts[0]?.field ?? 'the YAML'} and the like take ${error.message} to read; make them simpler`
    throw error
  })
  return typeof problem === 'string' ? problem : undefined
}
