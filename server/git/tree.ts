import { GitError } from './git.ts'
import { treePath } from './names.ts'

/**
 * Every entry of a commit's tree by path, including directories. Paths and names use one character
 * per byte (latin1), because git does not define their encoding and two names must never become
 * equal.
 */
export type Tree = ReadonlyMap<string, TreeEntry>

export interface TreeEntry {
  readonly kind: 'directory' | 'file' | 'link' | 'submodule'
  /** Object id. */
  readonly id: string
}

/** Parses a record of `git ls-tree -r -t -z`. Undefined for other texts. */
export function parseTreeRecord(record: string): { readonly path: string; readonly entry: TreeEntry } | undefined {
  const [, mode, id, path] = /^(\d{6}) [a-z]+ ([0-9a-f]+)\t(.+)$/s.exec(record) ?? []
  if (mode === undefined || id === undefined || path === undefined) return undefined
  return { path, entry: { kind: kindOf(mode), id } }
}

function kindOf(mode: string): TreeEntry['kind'] {
  if (mode === '040000') return 'directory'
  if (mode === '120000') return 'link'
  return mode === '160000' ? 'submodule' : 'file'
}

/** Returns the path as a Tree stores it. Throws GitError('path') for a path outside the tree. */
export function pathInTree(text: string): string {
  const path = treePath(text)
  if (path === undefined)
    throw new GitError('path', 'The path must be relative, inside the repository and without "..".')
  return Buffer.from(path).toString('latin1')
}

/**
 * Finds the entry at a path other than ''. Throws GitError('path') if the entry or a directory
 * above it is a link.
 */
export function findEntry(tree: Tree, path: string): TreeEntry | undefined {
  const parts = path.split('/')
  for (let length = 1; length <= parts.length; length++) {
    const above = parts.slice(0, length).join('/')
    if (tree.get(above)?.kind === 'link') {
      throw new GitError(
        'path',
        `"${shown(above)}" is a symbolic link, which is not followed. Commit a real file or directory instead.`,
      )
    }
  }
  return tree.get(path)
}

/** Lists the links under a directory ('' is the top), with paths relative to it. */
export function linksUnder(tree: Tree, directory: string): readonly { readonly path: string; readonly id: string }[] {
  const prefix = directory === '' ? '' : `${directory}/`
  const links: { readonly path: string; readonly id: string }[] = []
  for (const [path, { kind, id }] of tree) {
    if (kind === 'link' && path.startsWith(prefix)) links.push({ path: path.slice(prefix.length), id })
  }
  return links
}

/** Returns a path of a Tree in readable form. */
export const shown = (path: string): string =>
  Buffer.from(path, 'latin1')
    .toString()
    .replace(/\p{Cc}/gu, '?')
    .slice(0, 200)
