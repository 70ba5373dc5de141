import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitProgram } from './git-program.ts'

/** The author of commits that this server creates itself. */
const identity = {
  GIT_AUTHOR_NAME: 'Quayside',
  GIT_AUTHOR_EMAIL: 'quayside@localhost',
  GIT_COMMITTER_NAME: 'Quayside',
  GIT_COMMITTER_EMAIL: 'quayside@localhost',
}

const branch = 'refs/heads/main'

/**
 * Commits the files of a directory to main, unless main already has exactly this content. Files
 * that the directory's `.gitignore` names are excluded. Returns the id of the head commit of main.
 */
export async function importDirectory(
  program: GitProgram,
  source: {
    readonly gitDirectory: string
    readonly directory: string
    readonly message: string
    readonly signal: AbortSignal
  },
): Promise<string> {
  const { gitDirectory, directory, message, signal } = source
  const index = join(gitDirectory, `import-${randomUUID()}.index`)
  const git = async (args: readonly string[], stdin?: string): Promise<string> => {
    const environment = { ...identity, GIT_INDEX_FILE: index }
    const call = {
      gitDirectory,
      args,
      environment,
      signal,
      timeoutMs: 60_000,
      ...(stdin === undefined ? {} : { stdin }),
    }
    return (await program.run(call)).stdout.toString().trim()
  }
  try {
    await git([`--work-tree=${directory}`, 'add', '--all', '--', directory])
    const tree = await git(['write-tree'])
    const [parent, parentTree] = (await git(['for-each-ref', '--format=%(objectname) %(tree)', branch])).split(' ')
    if (parent && parentTree === tree) return parent
    const commit = await git(['commit-tree', tree, ...(parent ? ['-p', parent] : []), '-F', '-'], `${message}\n`)
    await git(['update-ref', '--end-of-options', branch, commit, parent || '0'.repeat(commit.length)])
    return commit
  } finally {
    await rm(index, { force: true })
  }
}
