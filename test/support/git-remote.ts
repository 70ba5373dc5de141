import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { run } from '../../server/lib/run.ts'

/** Files by path. After a push the branch holds exactly these. */
export type Tree = Readonly<Record<string, string>>

/** A working copy of a repository on the built-in git host. It uses the real git over HTTP. */
export interface GitRemote {
  readonly url: string
  /** Commits the tree on `main` and pushes it. Returns the commit's id. */
  push(tree: Tree, message?: string): Promise<string>
  /** Runs git in the working copy with credentials for pushes. Returns its output. */
  git(...args: string[]): Promise<string>
  remove(): Promise<void>
}

export async function openGitRemote(options: { readonly url: string; readonly token: string }): Promise<GitRemote> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-push-'))
  const env = {
    HOME: directory,
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.org',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.org',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${Buffer.from(`any:${options.token}`).toString('base64')}`,
  }
  const git = async (...args: string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await run('git', ['-C', directory, ...args], { env, timeoutMs: 30_000 })
    if (exitCode !== 0) throw new Error(`git ${args[0]} ended with ${exitCode}: ${stderr}`)
    return stdout.toString().trim()
  }
  await git('init', '--quiet', '--initial-branch=main')
  await git('remote', 'add', 'origin', options.url)
  return {
    url: options.url,
    git,
    push: async (tree, message = 'A change') => {
      await git('rm', '-r', '--quiet', '--force', '--ignore-unmatch', '.')
      for (const [path, content] of Object.entries(tree)) {
        await mkdir(dirname(join(directory, path)), { recursive: true })
        await writeFile(join(directory, path), content)
      }
      await git('add', '--all')
      await git('commit', '--quiet', '--allow-empty', '--message', message)
      await git('push', '--quiet', 'origin', 'main')
      return git('rev-parse', 'HEAD')
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}
