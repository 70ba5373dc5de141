import { fileURLToPath } from 'node:url'
import { run } from '../../server/lib/run.ts'
import { usualSocket, viewEngine } from './engine-view.ts'
import { type GitRemote, openGitRemote, type Tree } from './git-remote.ts'
import { openTofu } from './opentofu/build.ts'
import type { ServerProcess } from './server-process.ts'
import { until } from './until.ts'

const program = fileURLToPath(new URL('../../bootstrap/images.mjs', import.meta.url))

/**
 * Builds the image of an engine of stacks from the program of this machine, unless it exists.
 * Returns the image with the whole version, or undefined if the machine has no such program.
 */
export async function provideRunnerImage(name: 'terraform' | 'opentofu'): Promise<string | undefined> {
  const { exitCode, stdout, stderr } = await run(process.execPath, [program, name], {
    env: {
      PATH: process.env['PATH'] ?? '',
      QUAYSIDE_DOCKER_HOST: `unix://${usualSocket}`,
      QUAYSIDE_OPENTOFU_BINARY: openTofu() ?? '',
    },
    timeoutMs: 540_000,
  })
  if (exitCode !== 0) throw new Error(`the image of ${name} could not be built:\n${stdout}\n${stderr}`)
  if (stdout.includes('none.')) return undefined
  const owner = name === 'terraform' ? 'hashicorp' : name
  const found = Object(await viewEngine().ask('GET', `/images/${owner}/${name}:1/json`))
  // A build has another tag on it for a moment.
  const tags: string[] = (Array.isArray(found.RepoTags) ? found.RepoTags.map(String) : []).filter((tag: string) =>
    tag.startsWith(`${owner}/${name}:`),
  )
  return tags.toSorted((one, other) => other.length - one.length)[0]
}

export interface StackEnd {
  readonly state: string
  readonly reason: string | null
}

/** A stack on a server under test, with its git repository. */
export interface TestStack {
  readonly id: string
  readonly git: GitRemote
  /** Requests a deployment and does not wait for it. */
  deploy(body?: object): Promise<void>
  /** Waits until the stack has no deployment request. `GONE`: its record is deleted. */
  settles(limitMs?: number): Promise<StackEnd>
  /** Pushes the tree, deploys it and waits. */
  run(tree: Tree): Promise<StackEnd>
  /** Lists the texts of the deployment log. */
  log(): Promise<string[]>
}

export async function makeStack(
  server: ServerProcess,
  stack: {
    readonly environmentId: string
    readonly name: string
    readonly version: string
    readonly settings?: object
  },
): Promise<TestStack> {
  const { environmentId, name, version, settings } = stack
  const git = await openGitRemote({ url: `${server.apiUrl}/git/${name}.git`, token: server.token })
  await git.push({ 'main.tf': '' })
  const { id } = await server.must<{ id: string }>('POST', `/environment/${environmentId}/terraform`, {
    name,
    description: '',
    auto_deploy_config: { auto_deploy: false, terraform_action: 'DEFAULT' },
    terraform_files_source: { git_repository: { url: git.url, branch: 'main', root_path: '/' } },
    terraform_variables_source: { tf_var_file_paths: [], tf_vars: [] },
    backend: { kubernetes: {} },
    engine: 'TERRAFORM',
    provider_version: { read_from_terraform_block: false, explicit_version: version },
    job_resources: { cpu_milli: 1000, ram_mib: 512, gpu: 0, storage_gib: 1 },
    ...settings,
  })
  const settles = (limitMs = 120_000) =>
    until(
      `stack ${name} is settled`,
      async (): Promise<StackEnd | undefined> => {
        const [row] = await server.sql<StackEnd[]>`
          select s.state, (select t.reason from deployment_target t where t.service_id = s.id
            order by t.service_seq desc limit 1) as reason
          from service s where s.id = ${id} and not exists (
            select from deployment_target t join deployment_request q on q.id = t.request_id
            where t.service_id = s.id and q.status in ('QUEUED', 'ONGOING', 'CANCELING'))`
        if (row) return row
        const [left] = await server.sql`select id from service where id = ${id}`
        return left ? undefined : { state: 'GONE', reason: null }
      },
      { limitMs },
    )
  const deploy = async (body: object = {}) => void (await server.must('POST', `/terraform/${id}/deploy`, body))
  return {
    id,
    git,
    deploy,
    settles,
    run: async (tree) => {
      await git.push(tree)
      await deploy()
      return settles()
    },
    log: async () => {
      const log = await server.must<{ message?: { safe_message?: string } }[]>(
        'GET',
        `/environment/${environmentId}/logs`,
      )
      return log.map(({ message }) => message?.safe_message ?? '')
    },
  }
}
