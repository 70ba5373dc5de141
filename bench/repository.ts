import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../server/lib/run.ts'
import type { Session } from './figure.ts'
import { type Installation, root } from './installation.ts'

/** The one-file application of examples/hello as a local repository. */
export interface Repository {
  readonly directory: string
  /** Changes the version that the application prints and pushes it to the built-in git host. */
  push(version: string): Promise<void>
}

const source = join(root, 'examples', 'hello')

/** Returns the application's source with a new version: a change of one line. */
export async function sourceOf(version: string): Promise<string> {
  const original = await readFile(join(source, 'server.js'), 'utf8')
  const changed = original.replace("process.env.VERSION ?? 'unknown'", `'${version}'`)
  if (changed === original) throw new Error('examples/hello/server.js no longer has the expected line with its version')
  return changed
}

export const dockerfile = (): Promise<string> => readFile(join(source, 'Dockerfile'), 'utf8')

export async function createRepository(
  { ending }: Session,
  installation: Installation,
  name: string,
): Promise<Repository> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-bench-repository-'))
  ending.defer(() => rm(directory, { recursive: true, force: true }))
  await cp(source, directory, { recursive: true })
  const git = async (...args: string[]): Promise<void> => {
    const env = await gitEnvironment(installation)
    const { exitCode, stderr } = await run('git', args, { cwd: directory, env, timeoutMs: 30_000 })
    if (exitCode !== 0) throw new Error(`git ${args[0]} failed: ${stderr}`)
  }
  await git('init', '--quiet', '--initial-branch=main')
  return {
    directory,
    async push(version) {
      await writeFile(join(directory, 'server.js'), await sourceOf(version))
      await git('add', '--all')
      await git('commit', '--quiet', '--message', `Version ${version}`)
      await git('push', '--quiet', `http://127.0.0.1:${installation.port}/git/${name}.git`, 'main')
    },
  }
}

/** The token is passed in the environment because every user can read arguments. */
async function gitEnvironment(installation: Installation): Promise<Record<string, string>> {
  const basic = Buffer.from(`bench:${await installation.token()}`).toString('base64')
  return {
    HOME: '/nonexistent',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic}`,
    GIT_AUTHOR_NAME: 'Bench',
    GIT_AUTHOR_EMAIL: 'bench@localhost',
    GIT_COMMITTER_NAME: 'Bench',
    GIT_COMMITTER_EMAIL: 'bench@localhost',
  }
}
