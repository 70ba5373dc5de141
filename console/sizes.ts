import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { loadedBy, type Manifest, scriptOf } from './manifest.ts'

/** Compressed bytes of JavaScript in kB (1,000 bytes), as the server sends them. */
export interface Sizes {
  /** Before the first page. */
  readonly first: number
  /** In addition, for each other page with everything that it may load, the largest first. */
  readonly more: readonly { readonly source: string; readonly kB: number }[]
}

/** Pages with a terminal, which is large. */
const large: readonly string[] = ['pages/ServiceShellPage.tsx']
/** The box of dialogs is loaded once, after the first page. It is listed by itself. */
const popup = 'ui/BasePopup.tsx'
/** The frame of the pages of settings. It is counted for every page. */
const frame = 'pages/settings/Settings.tsx'

/** Returns the sizes of a build in the directory `dist`. */
export async function sizesOf(dist: string): Promise<Sizes> {
  const manifest: Manifest = JSON.parse(await readFile(join(dist, 'manifest.json'), 'utf8'))
  const bytes = new Map<string, number>()
  for (const name of Object.keys(manifest)) bytes.set(name, (await stat(join(dist, 'assets', `${name}.br`))).size)
  const sum = (scripts: Iterable<string>): number =>
    [...scripts].reduce((total, name) => total + (bytes.get(name) ?? 0), 0) / 1_000
  const first = loadedBy(manifest, scriptOf(manifest, 'main.tsx'), 'before')
  const known = new Set([...first, ...loadedBy(manifest, scriptOf(manifest, popup), 'before')])
  const ofFrame = loadedBy(manifest, scriptOf(manifest, frame), 'ever')
  const more = Object.entries(manifest).flatMap(([name, { source }]) => {
    if (source === undefined || source === 'main.tsx' || large.includes(source)) return []
    const all = new Set([...ofFrame, ...loadedBy(manifest, name, 'ever')])
    const before = source === popup ? first : known
    return [{ source, kB: sum([...all].filter((script) => !before.has(script))) }]
  })
  return { first: sum(first), more: more.toSorted((one, other) => other.kB - one.kB) }
}
