import { GitError } from './git.ts'

/** How many links are followed before they count as a loop. */
const maxFollowed = 255
/** How many names all links may have on their ways together. */
export const maxLinkSteps = 100_000

/** A name of the tree that is a link or above one. Looking up a name takes the same time at every depth. */
interface Node {
  target?: string
  readonly below: Map<string, Node>
}

interface Walk {
  readonly root: Node
  stepsLeft: number
}

/**
 * Returns the first link that points outside, directly or through other links. `targets` is what each link says, by its path. Walks as
 * a file system would, where every name on the way may be a link itself. Throws GitError('limits') for a maze of links.
 */
export function escapingLink(targets: ReadonlyMap<string, string>): string | undefined {
  const walk = { root: nodesOf(targets), stepsLeft: maxLinkSteps }
  for (const path of targets.keys()) if (escapes(path, walk)) return path
  return undefined
}

const newNode = (): Node => ({ below: new Map() })
const maze = (): GitError =>
  new GitError('limits', 'The repository has too many symbolic links, or they lead to each other too often.')

function nodesOf(targets: ReadonlyMap<string, string>): Node {
  const root = newNode()
  let stepsLeft = maxLinkSteps
  for (const [path, target] of targets) {
    let node = root
    for (const name of path.split('/')) {
      if (stepsLeft-- <= 0) throw maze()
      const next: Node = node.below.get(name) ?? newNode()
      node.below.set(name, next)
      node = next
    }
    node.target = target
  }
  return root
}

function escapes(link: string, walk: Walk): boolean {
  /** Undefined for a name that has no link below it. */
  const at: (Node | undefined)[] = []
  /** The names that follow, the next one last. */
  const ahead = link.split('/').reverse()
  let followed = 0
  for (let name = ahead.pop(); name !== undefined; name = ahead.pop()) {
    if (walk.stepsLeft-- <= 0) throw maze()
    if (name === '' || name === '.') continue
    if (name === '..') {
      if (at.length === 0) return true
      at.pop()
      continue
    }
    const node = (at.length === 0 ? walk.root : at.at(-1))?.below.get(name)
    const target = node?.target
    if (target === undefined) {
      at.push(node)
      continue
    }
    if (target.startsWith('/')) return true
    // A loop leads nowhere, so not outside.
    if (++followed > maxFollowed) return false
    const names = target.split('/')
    walk.stepsLeft -= names.length
    ahead.push(...names.reverse())
  }
  return false
}
