import assert from 'node:assert/strict'
import type { DeploymentHistory, EnvironmentLog } from '@quayside/contract/resources/deployment.ts'
import type { Log } from '@quayside/contract/resources/log.ts'
import type { ShortStatus } from '@quayside/contract/resources/status.ts'
import type { Application } from '@quayside/contract/services/application.ts'
import { type GitRemote, openGitRemote, type Tree } from './git-remote.ts'
import type { ServerProcess } from './server-process.ts'
import { get } from './traffic.ts'
import { until } from './until.ts'

export type StatusReply = typeof ShortStatus.static

/** An application of a server under test, with its git repository. */
export interface TestApplication {
  readonly id: string
  readonly environmentId: string
  /** The public URL. */
  readonly url: string
  readonly git: GitRemote
  status(): Promise<StatusReply>
  /** Requests a deployment and does not wait for it. */
  deploy(commit?: string): Promise<void>
  /** Pushes the tree and deploys it. */
  ship(tree: Tree): Promise<void>
  /** Pushes the tree, deploys it and waits. Fails with the reason unless it is running. */
  run(tree: Tree): Promise<void>
  /** Waits until the application is in one of these states. */
  reaches(states: readonly string[], limitMs?: number): Promise<StatusReply>
  /** Waits until the application has no running or queued request. */
  settles(limitMs?: number): Promise<StatusReply>
  history(): Promise<(typeof DeploymentHistory.static)['results']>
  log(tail?: number): Promise<(typeof Log.static)[]>
  deploymentLog(): Promise<(typeof EnvironmentLog.static)[]>
  /** Returns what the public URL answers. */
  answer(): Promise<{ status: number; body: string }>
}

/** Makes an environment in a project of its own. Without a cluster: on the machine itself. */
export async function makeEnvironment(server: ServerProcess, name: string, cluster?: string): Promise<string> {
  const project = await server.must<{ id: string }>('POST', `/organization/${server.organizationId}/project`, { name })
  const environment = await server.must<{ id: string }>('POST', `/project/${project.id}/environment`, {
    name,
    ...(cluster && { cluster }),
  })
  return environment.id
}

export async function makeApplication(
  server: ServerProcess,
  at: { readonly environmentId: string; readonly name: string; readonly settings?: object },
): Promise<TestApplication> {
  const { environmentId, name } = at
  const git = await openGitRemote({ url: `${server.apiUrl}/git/${name}.git`, token: server.token })
  const { id } = await server.must<typeof Application.static>('POST', `/environment/${environmentId}/application`, {
    name,
    git_repository: { url: git.url, branch: 'main' },
    cpu: 250,
    memory: 64,
    auto_preview: false,
    ports: [{ internal_port: 8080, publicly_accessible: true, protocol: 'HTTP' }],
    ...at.settings,
  })
  const links = await server.must<{ results: { url: string }[] }>('GET', `/application/${id}/link`)
  return viewOf(server, { id, environmentId, git, url: links.results[0]?.url ?? '' })
}

/**
 * Makes an application `web` in its own environment and deploys nothing. `settings` override the
 * usual ones.
 */
export async function makeWeb(server: ServerProcess, settings: object = {}): Promise<TestApplication> {
  return makeApplication(server, { environmentId: await makeEnvironment(server, 'faults'), name: 'web', settings })
}

function viewOf(
  server: ServerProcess,
  facts: Pick<TestApplication, 'id' | 'environmentId' | 'git' | 'url'>,
): TestApplication {
  const { id, environmentId, git, url } = facts
  const status = (): Promise<StatusReply> => server.must('GET', `/application/${id}/status`)
  const deploy = async (commit?: string): Promise<void> =>
    void (await server.must('POST', `/application/${id}/deploy`, commit ? { git_commit_id: commit } : {}))
  const list = async <T>(path: string): Promise<T[]> => (await server.must<{ results: T[] }>('GET', path)).results
  const wait = async (
    what: string,
    isThere: (status: StatusReply) => boolean,
    limitMs: number,
  ): Promise<StatusReply> => {
    let last: unknown
    const look = async (): Promise<StatusReply | undefined> => {
      const { status: code, body } = await server.api<StatusReply>('GET', `/application/${id}/status`)
      last = body
      // A test may have killed the database.
      if (code === 503) return undefined
      assert.equal(code, 200, JSON.stringify(body))
      return isThere(body) ? body : undefined
    }
    return until(`application ${id} ${what}`, look, { limitMs, seen: () => last })
  }
  const ship = async (tree: Tree): Promise<void> => {
    await git.push(tree)
    await deploy()
  }
  const settles = (limitMs = 90_000): Promise<StatusReply> =>
    wait('is settled', (last) => last.deployment_request_id === null && last.deployment_requests_count === 0, limitMs)
  return {
    ...facts,
    status,
    deploy,
    ship,
    run: async (tree) => {
      await ship(tree)
      const { state, reason } = await settles()
      assert.deepEqual({ state, reason }, { state: 'RUNNING', reason: null })
    },
    settles,
    reaches: (states, limitMs = 90_000) =>
      wait(`is ${states.join(' or ')}`, ({ state }) => states.includes(state), limitMs),
    history: () => list(`/application/${id}/deploymentHistoryV2`),
    log: (tail = 1000) => list(`/application/${id}/log?tail=${tail}`),
    deploymentLog: () => server.must('GET', `/environment/${environmentId}/logs`),
    answer: () => get(url),
  }
}
