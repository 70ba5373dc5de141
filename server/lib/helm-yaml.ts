import { LineCounter, parseAllDocuments, visit } from 'yaml'

/** A string of YAML that cannot be read. `line` begins at 1. */
export interface YamlProblem {
  readonly line: number
  readonly problem: string
}

/** Tags of YAML 1.1 that Helm does not know: it reads such values as strings. */
const unknownToHelm = ['tag:yaml.org,2002:binary', 'tag:yaml.org,2002:timestamp', 'tag:yaml.org,2002:set']

/**
 * Returns the documents of a string as Helm reads them (YAML 1.1), without empty ones, or its first
 * problem. Takes time quadratic in the length in the worst case: call it in a worker.
 */
export function readHelmYaml(
  text: string,
  /** Replaces a string. `isPlain`: it has no quotes. */
  replace?: (text: string, isPlain: boolean) => unknown,
): { readonly documents: readonly unknown[] } | YamlProblem {
  const lines = new LineCounter()
  const parsed = parseAllDocuments(text, {
    version: '1.1',
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: lines,
    customTags: (tags) => tags.filter((tag) => typeof tag !== 'object' || isKnownToHelm(tag)),
  })
  const documents: unknown[] = []
  for (const document of Array.isArray(parsed) ? parsed : []) {
    const [error] = document.errors
    if (error) return { line: lines.linePos(error.pos[0]).line, problem: error.message }
    if (replace) {
      visit(document, {
        Scalar: (place, node) => {
          if (place !== 'key' && typeof node.value === 'string') node.value = replace(node.value, node.type === 'PLAIN')
        },
      })
    }
    try {
      const value: unknown = document.toJS({ maxAliasCount: 100 })
      if (value !== null && value !== undefined) documents.push(value)
    } catch {
      return { line: 1, problem: 'it has too many aliases' }
    }
  }
  return { documents }
}

const isKnownToHelm = (tag: { readonly tag: string; readonly format?: string | undefined }): boolean =>
  !unknownToHelm.includes(tag.tag) && tag.format !== 'TIME'
