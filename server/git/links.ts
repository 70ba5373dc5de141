import { GitError } from './git.ts'

/** Maximum number of links to follow before they count as a loop. */
const maxFollowed = 255
/** Maximum number of names that all links may pass through together. */
export const maxLinkSteps = 100_000

/**
 * A name of the tree that is a link or an ancestor of one. A lookup takes the same time at every
 * depth.
 */
interface Node {
  target?: string
  readonly below: Map<string, Node>
}

interface Walk {
  readonly root: Node
  stepsLeft: number
}

/**
 * Returns the first link that points outside, directly or through other links. `targets` contains
 * the target of each link by its path. It resolves paths like a file system, where every name on
 * the way may be a link. Throws GitError('limits') for a maze of links.
 */
export function escapingLink(targets: ReadonlyMap<string, string>): string | undefined {
  const walk = { root: nodesOf(targets), stepsLeft: maxLinkSteps }
  for (const path of targets.keys()) if (escapes(path, walk)) return path
  return undefined
}

const newNode = (): Node => ({ below: new Map() })
const maze = (): GitError =>
  new GitError('limits', 'The repository has too many symbolic links, or they point to each other too often.')

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
  /** Undefined for a name without a link below it. */
  const at: (Node | undefined)[] = []
  /** The remaining names, the next one last. */
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
    // A loop has no target, so it does not point outside.
    if (++followed > maxFollowed) return false
    const names = target.split('/')
    walk.stepsLeft -= names.length
    ahead.push(...names.reverse())
  }
  return false
}
