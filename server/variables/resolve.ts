import { Secret } from '../lib/secret.ts'
import { checkReferences, interpolate, mayRefer } from './interpolate.ts'

/** One stored variable or secret as the resolver needs it. `text` is undefined for an alias, which has none of its own. */
export interface Definition {
  readonly id: string
  readonly scope: 'PROJECT' | 'ENVIRONMENT' | 'SERVICE'
  readonly key: string
  readonly type: 'VALUE' | 'FILE' | 'ALIAS' | 'OVERRIDE'
  readonly text: string | Secret | undefined
  readonly mountPath: string | undefined
  readonly interpolatesFile: boolean
  /** What an alias or override stands on: the id of a stored or built-in variable. */
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
  /** By final key. A file's key holds the path that it is mounted at. */
  readonly variables: ReadonlyMap<string, ResolvedVariable>
  readonly files: readonly ResolvedFile[]
}

/** What a key stands for, before interpolation. */
export interface Source {
  /** 0 for built-ins, then the wider the scope, the smaller. */
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
 * What a workload gets from everything that is reachable from its service: for each key the narrowest scope wins, aliases
 * take their target's text, overrides their own, and `{{KEY}}` is replaced once. What touched a secret is a secret.
 * Throws ResolveError, which names the variable.
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
  for (const [key, source] of sources) {
    const text = source.isScanned ? interpolate(key, source, sources) : source.text
    if (source.path === undefined) variables.set(key, { value: text, isSecret: text instanceof Secret })
    else {
      variables.set(key, { value: source.path, isSecret: false })
      // Two keys, one path: the narrower scope's file is the one that is there.
      if ((files.get(source.path)?.rank ?? -1) < source.rank)
        files.set(source.path, {
          path: source.path,
          content: text,
          isSecret: text instanceof Secret,
          rank: source.rank,
        })
    }
  }
  return { variables, files: [...files.values()].map(({ path, content, isSecret }) => ({ path, content, isSecret })) }
}

const nothing: Source = { rank: 0, text: '', path: undefined, isScanned: false }
const fromBuiltIn = ({ value }: BuiltInValue): Source => ({ ...nothing, text: value })

function sourceOf(
  definition: Definition,
  byId: ReadonlyMap<string, Definition>,
  builtInById: ReadonlyMap<string, Source>,
): Source {
  const target = definition.type === 'ALIAS' ? targetOf(definition, byId) : definition
  // A built-in goes with what it tells of: an alias of it is then like the name of nothing, an empty text.
  if (typeof target === 'string') return builtInById.get(target) ?? nothing
  const path = pathOf(target, byId)
  const text = target.text ?? ''
  const isTemplate = path === undefined || target.interpolatesFile
  return { rank: ranks[target.scope], text, path, isScanned: isTemplate && mayRefer(text) }
}

/** What an alias stands for in the end; the id of what is not stored. */
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

/** An override of a file, or of an alias of one, is a file at the same place. */
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
