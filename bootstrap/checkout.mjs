import { execFile } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { promisify } from 'node:util'
import { messageOf } from './error-code.mjs'
import { Refusal } from './progress.mjs'

const migrationsPath = 'server/database/migrations/'

/**
 * Opens a checkout for the commands that change its version. Every function throws a Refusal with
 * git's message.
 * @param {string} root
 */
export function openCheckout(root) {
  /** @param {string[]} args */
  const git = (...args) => runGit(root, args)
  /** @param {string[]} args */
  const lines = async (...args) => (await git(...args)).split('\n').filter(Boolean)
  return {
    git,
    head: () => git('rev-parse', 'HEAD'),
    /**
     * Returns the full id of a commit.
     * @param {string} name
     */
    commit: (name) => git('rev-parse', '--verify', '--end-of-options', `${name}^{commit}`),
    /**
     * @param {string} older
     * @param {string} newer
     */
    isAncestor: (older, newer) =>
      git('merge-base', '--is-ancestor', older, newer).then(
        () => true,
        () => false,
      ),
    /**
     * @param {string} from
     * @param {string} to
     */
    commits: (from, to) => lines('log', '--no-decorate', '--format=%h %s', `${from}..${to}`),
    /**
     * Returns the names of a commit's migrations in order.
     * @param {string} commit
     */
    migrations: async (commit) =>
      (await lines('ls-tree', '--name-only', commit, migrationsPath))
        .map((path) => path.slice(migrationsPath.length))
        .filter((name) => name.endsWith('.sql'))
        .sort(),
    /**
     * Returns the last commit without the migration; undefined if it is unknown.
     * @param {string} migration
     */
    commitBefore: async (migration) => {
      const [added] = await lines(
        'log',
        '--diff-filter=A',
        '--format=%H',
        'HEAD',
        '--',
        `${migrationsPath}${migration}`,
      )
      return added && (await git('rev-parse', '--verify', `${added}^`))
    },
    /**
     * @param {string} commit
     * @returns {Promise<{ version?: string, engines?: { node?: string } }>}
     */
    packageOf: async (commit) => JSON.parse(await git('show', `${commit}:package.json`)),
    /** Throws unless the files are a checkout without changes that a switch could lose. */
    mustBeClean: async () => {
      const top = await git('rev-parse', '--show-toplevel').catch(() => undefined)
      if (top !== realpathSync(root)) {
        throw new Refusal(
          `${root} is not a git checkout. Make one with git clone. ` +
            'Then move the data directory there or set QUAYSIDE_DATA.',
        )
      }
      const changed = await lines('status', '--porcelain', '--untracked-files=no')
      if (changed.length > 0) {
        throw new Refusal(
          `These files of ${root} were changed:\n\n${changed.join('\n')}\n\n` +
            'Commit the changes or put them aside (git stash), and try again.',
        )
      }
    },
  }
}

/**
 * @param {string} root
 * @param {string[]} args
 */
async function runGit(root, args) {
  try {
    const { stdout } = await promisify(execFile)('git', args, {
      cwd: root,
      maxBuffer: 64 * 1024 ** 2,
      timeout: 300_000,
    })
    return stdout.trim()
  } catch (error) {
    const { killed = false, stderr = messageOf(error) } = /** @type {{ killed?: boolean, stderr?: string }} */ (error)
    const why = killed ? 'It did not end within 300 s.' : stderr.trim()
    throw new Refusal(`"git ${args.join(' ')}" failed. ${why}`)
  }
}
