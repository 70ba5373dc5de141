import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobRun } from '@quayside/contract/resources/job-run.ts'
import { type GitRemote, openGitRemote } from './git-remote.ts'
import type { ServerProcess } from './server-process.ts'
import { until } from './until.ts'

export type Run = typeof JobRun.static
interface Ended {
  readonly state: string
  readonly reason: string | null
}

/** A job on a server under test. It runs Node programs from an image that is built once. */
export interface TestJob {
  readonly id: string
  readonly git: GitRemote
  /** Requests a deployment and does not wait for it. */
  deploy(query?: string): Promise<void>
  /** Waits until the job has no deployment request. */
  settles(): Promise<Ended>
  /** Lists the runs, newest first. */
  runs(): Promise<Run[]>
  /** Returns how often this line was collected. */
  printed(text: string): Promise<number>
}

/** Returns the command of an event or a schedule: a program for `node -e`. */
export const program = (source: string) => ({ entrypoint: 'node', arguments: ['-e', source] })

export async function makeJob(
  server: ServerProcess,
  job: { readonly environmentId: string; readonly name: string; readonly schedule: object; readonly settings?: object },
): Promise<TestJob> {
  const { environmentId, name, schedule, settings } = job
  const git = await openGitRemote({ url: `${server.apiUrl}/git/${name}.git`, token: server.token })
  await git.push({ Dockerfile: 'FROM quayside/node:24\n' })
  const { id } = await server.must<{ id: string }>('POST', `/environment/${environmentId}/job`, {
    name,
    cpu: 250,
    memory: 64,
    auto_preview: false,
    healthchecks: {},
    source: { docker: { git_repository: { url: git.url, branch: 'main' } } },
    schedule,
    ...settings,
  })
  return {
    id,
    git,
    deploy: async (query = '') => void (await server.must('POST', `/job/${id}/deploy${query}`, {})),
    settles: () =>
      until(
        `job ${name} is settled`,
        async () => {
          const status = await server.must<Ended & { deployment_request_id: string | null; status_details: object }>(
            'GET',
            `/job/${id}/status`,
          )
          const [row] = await server.sql<{ state: string }[]>`select state from service where id = ${id}`
          return status.deployment_request_id === null && row && { ...status, state: row.state }
        },
        { limitMs: 60_000 },
      ),
    printed: async (text) => {
      const directory = join(server.dataDirectory, 'logs', 'service', id)
      const names = await readdir(directory).catch(() => [])
      const files = await Promise.all(names.map((file) => readFile(join(directory, file), 'utf8')))
      return files.join('').split(`"text":${JSON.stringify(text)}`).length - 1
    },
    runs: async () => (await server.must<{ results: Run[] }>('GET', `/job/${id}/run`)).results,
  }
}
