import { basename } from 'node:path'
import type { Metafile } from 'esbuild'

/** A built script: the source with which it begins, and the scripts that it loads. */
export interface BuiltScript {
  /** Below `src/`. Absent for a piece that several scripts share. */
  readonly source?: string
  /** Loaded before it runs. */
  readonly imports: readonly string[]
  /** Loaded when it asks for them. */
  readonly later: readonly string[]
}

/** The built scripts by their file name. */
export type Manifest = Readonly<Record<string, BuiltScript>>

/** Returns the scripts of a build, which `dist/manifest.json` keeps. */
export function manifestOf({ outputs }: Metafile): Manifest {
  const scripts = Object.entries(outputs).filter(([path]) => path.endsWith('.js'))
  return Object.fromEntries(
    scripts.map(([path, { entryPoint, imports }]) => {
      const of = (kind: string) => imports.filter((one) => one.kind === kind).map((one) => basename(one.path))
      const [, source] = entryPoint?.split('src/') ?? []
      return [
        basename(path),
        { ...(source && { source }), imports: of('import-statement'), later: of('dynamic-import') },
      ]
    }),
  )
}

/** Returns a script and everything that it loads before it runs, or also later. */
export function loadedBy(manifest: Manifest, script: string, when: 'before' | 'ever'): ReadonlySet<string> {
  const found = new Set<string>()
  const add = (name: string): void => {
    const known = manifest[name]
    if (!known || found.has(name)) return
    found.add(name)
    for (const one of when === 'ever' ? [...known.imports, ...known.later] : known.imports) add(one)
  }
  add(script)
  return found
}

/** Returns the script that begins with a source. */
export function scriptOf(manifest: Manifest, source: string): string {
  const found = Object.keys(manifest).find((name) => manifest[name]?.source === source)
  if (!found) throw new Error(`the build has no script of ${source}`)
  return found
}
