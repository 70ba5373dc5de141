import { Secret } from '../lib/secret.ts'
import { checkReferences, interpolate, mayRefer, unknownIn } from './interpolate.ts'

/**
 * The fields of a stored variable or secret that the resolver needs. `text` is undefined for an
 * alias, which has no text.
 */
export interface Definition {
  readonly id: string
  readonly scope: 'PROJECT' | 'ENVIRONMENT' | 'SERVICE'
  readonly key: string
  readonly type: 'VALUE' | 'FILE' | 'ALIAS' | 'OVERRIDE'
  readonly text: string | Secret | undefined
  readonly mountPath: string | undefined
  readonly interpolatesFile: boolean
  /** The id of the base of an alias or override: a stored or built-in variable. */
  readonly baseId: string | undefined
}

export interface ResolvedVariable {
  readonly value: string | Secret
  readonly isSecret: boolean
}

export interface ResolvedFile {
  readonly path: string
  readonly content: string | Secret
  readonly isSecret: boolean
}

export interface Resolved {
  /** By final key. The key of a file contains its mount path. */
  readonly variables: ReadonlyMap<string, ResolvedVariable>
  readonly files: readonly ResolvedFile[]
  /** By key: the names in its text that no variable has. An empty text stands in their place. */
  readonly missing: ReadonlyMap<string, readonly string[]>
}

/** The meaning of a key before interpolation. */
export interface Source {
  /** 0 for built-ins. A wider scope has a smaller number. */
  readonly rank: number
  readonly text: string | Secret
  readonly path: string | undefined
  readonly isScanned: boolean
}

interface BuiltInValue {
  readonly id: string
  readonly key: string
  readonly value: string | Secret
}

const ranks = { PROJECT: 1, ENVIRONMENT: 2, SERVICE: 3 } as const

/**
 * Resolves all variables that are reachable from a service into those of its workload. For each key
 * the narrowest scope wins. An alias takes its target's text, an override keeps its own, and
 * `{{KEY}}` is replaced once. A text that includes a secret is a secret. Throws ResolveError, which
 * names the variable.
 */
export function resolve(definitions: readonly Definition[], builtIns: readonly BuiltInValue[]): Resolved {
  const byId = new Map(definitions.map((definition) => [definition.id, definition]))
  const builtInById = new Map(builtIns.map((builtIn) => [builtIn.id, fromBuiltIn(builtIn)]))
  const sources = new Map(builtIns.map((builtIn) => [builtIn.key, fromBuiltIn(builtIn)]))
  const widestFirst = [...definitions].sort((a, b) => ranks[a.scope] - ranks[b.scope])
  for (const definition of widestFirst) sources.set(definition.key, sourceOf(definition, byId, builtInById))

  checkReferences(sources)
  const variables = new Map<string, ResolvedVariable>()
  const files = new Map<string, ResolvedFile & { readonly rank: number }>()
  const missing = new Map<string, readonly string[]>()
  for (const [key, source] of sources) {
    const text = source.isScanned ? interpolate(key, source, sources) : source.text
    const unknown = source.isScanned ? unknownIn(source.text, sources) : []
    if (unknown.length > 0) missing.set(key, unknown)
    if (source.path === undefined) variables.set(key, { value: text, isSecret: text instanceof Secret })
    else {
      variables.set(key, { value: source.path, isSecret: false })
      // If two keys have the same path, the file of the narrower scope wins.
      if ((files.get(source.path)?.rank ?? -1) < source.rank)
        files.set(source.path, {
          path: source.path,
          content: text,
          isSecret: text instanceof Secret,
          rank: source.rank,
        })
    }
  }
  return {
    variables,
    missing,
    files: [...files.values()].map(({ path, content, isSecret }) => ({ path, content, isSecret })),
  }
}

const nothing: Source = { rank: 0, text: '', path: undefined, isScanned: false }
const fromBuiltIn = ({ value }: BuiltInValue): Source => ({ ...nothing, text: value })

function sourceOf(
  definition: Definition,
  byId: ReadonlyMap<string, Definition>,
  builtInById: ReadonlyMap<string, Source>,
): Source {
  const target = definition.type === 'ALIAS' ? targetOf(definition, byId) : definition
  // A built-in disappears with the object that it describes. An alias of it then resolves to an
  // empty text, as an unknown key does.
  if (typeof target === 'string') return builtInById.get(target) ?? nothing
  const path = pathOf(target, byId)
  const text = target.text ?? ''
  const isTemplate = path === undefined || target.interpolatesFile
  return { rank: ranks[target.scope], text, path, isScanned: isTemplate && mayRefer(text) }
}

/** Returns the final target of an alias; the id if the target is not stored. */
function targetOf(alias: Definition, byId: ReadonlyMap<string, Definition>): Definition | string {
  const seen = new Set<Definition>()
  let target = alias
  while (target.type === 'ALIAS' && !seen.has(target)) {
    seen.add(target)
    const next = byId.get(target.baseId ?? '')
    if (!next) return target.baseId ?? ''
    target = next
  }
  return target
}

/** An override of a file, or of an alias of a file, is a file at the same path. */
function pathOf(definition: Definition, byId: ReadonlyMap<string, Definition>): string | undefined {
  if (definition.baseId === undefined) return definition.mountPath
  const seen = new Set<Definition>()
  let at: Definition | undefined = definition
  while (at && at.mountPath === undefined && at.baseId !== undefined && !seen.has(at)) {
    seen.add(at)
    at = byId.get(at.baseId ?? '')
  }
  return at?.mountPath
}
