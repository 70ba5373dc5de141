import { refusal } from '@quayside/contract/states.ts'
import { GitError, repositoryKey } from '../git/index.ts'
import { startDeadline } from '../lib/deadline.ts'
import { AppError } from '../lib/error.ts'
import {
  listAutoDeployed,
  listRestrictionsOf,
  pushedAction,
  type Repository,
  repositoriesOf,
  type ServiceRow,
} from '../services/index.ts'
import { needsPaths, type Restriction, whyNotChanged } from './changed-paths.ts'
import { isOvertaken, type PushedServiceRow, type PushRow } from './push-store.ts'
import type { PushWorkflowOptions } from './push-workflow.ts'

/**
 * The result of a push for one service before any request. `DEPLOYED`: to be deployed. Plain JSON.
 */
export type Decision = Omit<PushedServiceRow, 'push_id' | 'request_id'>

/** A service that follows the pushed branch. */
interface Follower {
  readonly service: ServiceRow
  readonly repository: Repository
}

/** Time limit of one request to a git server. */
const questionMs = 15_000

/**
 * Decides for every service of the organization with automatic deployments of the repository and
 * branch.
 */
export async function decidePush(
  options: PushWorkflowOptions,
  push: PushRow,
  signal: AbortSignal,
): Promise<Decision[]> {
  const { database, home, refusalOf } = options
  const services = await listAutoDeployed(database, push.organization_id)
  const followers: Follower[] = []
  const decisions: Decision[] = []
  for (const service of services) {
    const repository = repositoriesOf(service.kind, service.settings)
      .map((one) => one.repository)
      .find(({ url }) => push.repositories.includes(repositoryKey(url, home) ?? ''))
    if (!repository) continue
    const follows = await followsBranch(options, push, { service, repository }, signal)
    if (typeof follows === 'string') decisions.push(decision(service, 'REFUSED', follows))
    else if (follows) followers.push({ service, repository })
  }
  const restrictions = Map.groupBy(
    await listRestrictionsOf(
      database,
      followers.map(({ service }) => service.id),
    ),
    ({ service_id }) => service_id,
  )
  const overtaken = followers.length > 0 && (await isOvertaken(database, push))
  const readPaths = pathReader(options, push, signal)
  for (const { service, repository } of followers) {
    const refused = refusalOf(service)
    const own: readonly Restriction[] = restrictions.get(service.id) ?? []
    const leftOut =
      (overtaken ? 'It was reported late: a later push has already been received.' : undefined) ??
      whyAtRest(service) ??
      (pushedAction(service) === 'NOOP' ? 'Its auto_deploy_config.terraform_action is NOOP.' : undefined) ??
      (needsPaths(repository.root_path, own)
        ? whyNotChanged(await readPaths({ service, repository }), repository.root_path, own)
        : undefined)
    if (refused) decisions.push(decision(service, 'REFUSED', refused))
    else decisions.push(leftOut ? decision(service, 'LEFT_OUT', leftOut) : decision(service, 'DEPLOYED', null))
  }
  return decisions
}

/** A push does not start a service that someone stopped or is about to stop. */
function whyAtRest({ state }: ServiceRow): string | undefined {
  if (/^STOP(?:PED|PING|_QUEUED|_ERROR)$/.test(state)) return 'It is stopped; deploy it to start it.'
  if (state === 'DELETED') return 'It is uninstalled; deploy it to start it.'
  const refused = refusal('DEPLOY', state)
  return refused && `It cannot be deployed: ${refused}.`
}

/**
 * A service without a branch follows main, else master, else the repository's default. A string is
 * the reason why that is unknown.
 */
async function followsBranch(
  options: PushWorkflowOptions,
  push: PushRow,
  { service, repository }: Follower,
  signal: AbortSignal,
): Promise<boolean | string> {
  const { branch } = repository
  if (branch !== undefined) return branch === push.branch
  if (push.branch === 'main') return true
  const asked = await ask(signal, async (limited) =>
    options.git.resolveHead(await options.repositoryOf(service, repository), limited),
  )
  if (asked.failure !== undefined) return `Its branch is unknown: ${asked.failure}`
  return asked.answer.branch === push.branch
}

/**
 * Finds the changed paths once for all services. Undefined if they are unknown, so that every path
 * counts as changed.
 */
function pathReader(options: PushWorkflowOptions, push: PushRow, signal: AbortSignal) {
  let read: Promise<readonly string[] | undefined> | undefined
  const compare = async ({ service, repository }: Follower): Promise<readonly string[] | undefined> => {
    const { before, commit: after } = push
    if (push.paths) return push.paths
    if (before === null) return undefined
    const asked = await ask(signal, async (limited) =>
      options.git.changedPaths(await options.repositoryOf(service, repository), { before, after }, limited),
    )
    if (asked.failure !== undefined) {
      options.log.warn({ pushId: push.id, reason: asked.failure }, 'changed files are unknown; all count as changed')
    }
    return asked.answer
  }
  return (follower: Follower) => {
    read ??= compare(follower)
    return read
  }
}

type Asked<T> = { readonly answer: T; readonly failure?: never } | { readonly answer?: never; readonly failure: string }

/** Returns the answer of a git server, or the reason for having none. */
async function ask<T>(signal: AbortSignal, question: (signal: AbortSignal) => Promise<T>): Promise<Asked<T>> {
  const deadline = startDeadline(questionMs, signal)
  try {
    return { answer: await question(deadline.signal) }
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.isOver) return { failure: `the git server did not answer within ${questionMs / 1000} s.` }
    if (error instanceof GitError || error instanceof AppError) return { failure: error.message }
    throw error
  }
}

const decision = (service: ServiceRow, result: Decision['result'], reason: string | null): Decision => ({
  service_id: service.id,
  service_name: service.name,
  kind: service.kind,
  environment_id: service.environment_id,
  environment_name: service.environment_name,
  environment_mode: service.environment_mode,
  project_id: service.project_id,
  result,
  reason,
})
