import type { Readable } from 'node:stream'
import type { Attempt } from '../lib/attempt.ts'
import { commitFormat, parseCommit } from './commit-info.ts'
import { type Checkout, type CommitInfo, GitError, type TreeView } from './git.ts'
import { type GitProgram, records } from './git-program.ts'
import type { GitLimits } from './limits.ts'
import { escapingLink, maxLinkSteps } from './links.ts'
import type { Tags } from './tags.ts'
import { findEntry, linksUnder, parseTreeRecord, pathInTree, shown, type Tree, type TreeEntry } from './tree.ts'

/**
 * A local repository that has the commit: fetched, or of the built-in git host. Reading it needs no
 * network.
 */
export interface CheckoutSource {
  readonly program: GitProgram
  readonly limits: GitLimits
  readonly gitDirectory: string
  readonly commit: string
  /** May still be being read, together with the commit. */
  readonly tags: Promise<Tags>
  /** Called once, when the checkout is disposed. */
  readonly release: () => Promise<void>
}

type TreeSource = Omit<CheckoutSource, 'release' | 'tags'>

/** Reads the commit and lists its tree. The output names submodules, which stay empty. */
export async function openCheckout(source: CheckoutSource, attempt: Attempt): Promise<Checkout> {
  const [commit, tree] = await Promise.all([readCommit(source, attempt.signal), readTree(source, attempt.signal)])
  warnOfSubmodules(tree, attempt)
  let released: Promise<void> | undefined
  return {
    commit,
    readFile: (path, signal) => readFile(source, tree, path, signal),
    archive: (path, signal) => archive(source, tree, path, signal),
    [Symbol.asyncDispose]: () => {
      released ??= source.release()
      return released
    },
  }
}

/** Maximum number of submodules that the output names. */
const mostNamed = 20

function warnOfSubmodules(tree: Tree, { output }: Attempt): void {
  let count = 0
  for (const [path, { kind }] of tree) {
    if (kind !== 'submodule') continue
    if (++count > mostNamed) continue
    output.line(`Submodule "${shown(path)}" is not fetched. Its directory stays empty.`, 'warning')
  }
  if (count > mostNamed) output.line(`${count - mostNamed} further submodules are not fetched.`, 'warning')
}

/** Reads only the tree. */
export async function openTree(source: TreeSource, signal: AbortSignal): Promise<TreeView> {
  const tree = await readTree(source, signal)
  const files: string[] = []
  for (const [path, { kind }] of tree) if (kind === 'file') files.push(inUtf8(path))
  return {
    files,
    readFile: (path) => readFile(source, tree, path, signal),
  }
}

/** Paths of plain ASCII, which are nearly all, need no conversion. */
const inUtf8 = (path: string): string => (/[\x80-\xff]/.test(path) ? Buffer.from(path, 'latin1').toString() : path)

async function readCommit(source: CheckoutSource, signal: AbortSignal): Promise<CommitInfo> {
  const reading = source.program.run({
    gitDirectory: source.gitDirectory,
    args: [
      'log',
      '-1',
      '--no-color',
      '--encoding=UTF-8',
      commitFormat,
      '--end-of-options',
      `${source.commit}^{commit}`,
      '--',
    ],
    signal,
    timeoutMs: source.limits.questionMs,
    maxBytes: 64 * 1024,
  })
  const [{ stdout }, tags] = await Promise.all([reading, source.tags])
  return parseCommit(stdout.toString(), tags)
}

/** Mode, type and id of a record, with their separators. */
const longestOtherColumns = '160000 commit '.length + 64 + 1

async function readTree(source: TreeSource, signal: AbortSignal): Promise<Tree> {
  const { program, limits, gitDirectory, commit } = source
  const tree = new Map<string, TreeEntry>()
  let bytes = 0
  const args = ['ls-tree', '-r', '-t', '-z', '--full-tree', '--end-of-options', commit]
  const listing = program.open({ gitDirectory, args, signal, timeoutMs: limits.checkoutMs })
  for await (const record of records(listing, '\0', longestOtherColumns + limits.maxPathBytes)) {
    const parsed = parseTreeRecord(record)
    if (!parsed) continue
    tree.set(parsed.path, parsed.entry)
    bytes += parsed.path.length
    if (tree.size > limits.maxEntries) {
      throw new GitError('limits', `The commit has more than ${limits.maxEntries} files. Make the repository smaller.`)
    }
    if (bytes > limits.maxTreeBytes) {
      throw new GitError(
        'limits',
        `The paths of the commit have more than ${limits.maxTreeBytes} bytes together. Use fewer files or ` +
          'shorter names.',
      )
    }
  }
  return tree
}

async function readFile(
  source: TreeSource,
  tree: Tree,
  path: string,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const { program, limits, gitDirectory } = source
  const entry = findEntry(tree, pathInTree(path))
  if (entry?.kind !== 'file') return undefined
  const { stdout } = await program.run({
    gitDirectory,
    args: ['cat-file', 'blob', entry.id],
    signal,
    timeoutMs: limits.questionMs,
    maxBytes: limits.maxFileBytes + 1,
  })
  if (stdout.length <= limits.maxFileBytes) return stdout
  throw new GitError(
    'limits',
    `The file "${path}" is larger than ${limits.maxFileBytes} bytes, which is too large for this use.`,
  )
}

async function archive(source: CheckoutSource, tree: Tree, path: string, signal: AbortSignal): Promise<Readable> {
  const directory = pathInTree(path)
  const entry = directory === '' ? undefined : findEntry(tree, directory)
  if (directory !== '' && entry?.kind !== 'directory') {
    throw new GitError('path', `The repository has no directory "${path}" in this commit. Check the root path.`)
  }
  findEntry(tree, directory === '' ? '.dockerignore' : `${directory}/.dockerignore`)
  const links = linksUnder(tree, directory)
  const escaping = links.length > 0 ? escapingLink(await readLinks(source, links, signal)) : undefined
  if (escaping !== undefined) {
    throw new GitError(
      'path',
      `The symbolic link "${shown(escaping)}" points outside of ` +
        `${directory === '' ? 'the repository' : `"${path}"`}. Remove it, or let it point to something inside.`,
    )
  }
  return source.program.open({
    gitDirectory: source.gitDirectory,
    args: ['archive', '--format=tar', '--end-of-options', entry?.id ?? `${source.commit}^{tree}`],
    signal,
    timeoutMs: source.limits.checkoutMs,
    maxBytes: source.limits.maxArchiveBytes,
  })
}

/** No file system accepts longer ones. */
const maxLinkBytes = 4096

/** Reads the target of every link, by its path. */
async function readLinks(
  source: CheckoutSource,
  links: readonly { readonly path: string; readonly id: string }[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  if (links.length > maxLinkSteps) {
    throw new GitError('limits', `The commit has more than ${maxLinkSteps} symbolic links. Remove some.`)
  }
  const { stdout } = await source.program.run({
    gitDirectory: source.gitDirectory,
    args: ['cat-file', '--batch'],
    stdin: links.map(({ id }) => `${id}\n`).join(''),
    signal,
    timeoutMs: source.limits.questionMs,
    maxBytes: 64 * 1024 ** 2,
  })
  const targets = new Map<string, string>()
  let at = 0
  for (const { path } of links) {
    const lineEnd = stdout.indexOf('\n', at)
    const size = Number(stdout.toString('latin1', at, lineEnd).split(' ')[2])
    const end = lineEnd + 1 + size
    if (lineEnd < 0 || !(size <= maxLinkBytes) || end > stdout.length) {
      throw new GitError('path', `The symbolic link "${shown(path)}" is too long or cannot be read. Remove it.`)
    }
    targets.set(path, stdout.toString('latin1', lineEnd + 1, end))
    at = end + 1
  }
  return targets
}
