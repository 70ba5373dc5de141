import { recordChange, serviceEntry } from '../audit/index.ts'
import { unitOfWork } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { findService, pushedAction, type ServiceRow } from '../services/index.ts'
import type { RunContext } from '../workflows/index.ts'
import type { Decision } from './decide.ts'
import { insertPushedServices, listDecided, type PushRow } from './push-store.ts'
import type { PushWorkflowOptions } from './push-workflow.ts'

/**
 * All pushes have the same caller, so that a waiting deployment can include the next push. The
 * platform is the one that deploys. The person who enabled automatic deployments permitted it.
 */
const caller = 'git push'

/** Errors that a retry cannot change. */
const lasting = new Set<AppError['code']>(['invalid', 'conflict', 'notFound'])
/** Maximum number of tries while other requests change the services. */
const mostTries = 20

/**
 * Writes one environment's part of a push together and once: the request, the result for each
 * service, and the audit log.
 */
export async function deployPushed(
  options: PushWorkflowOptions,
  push: PushRow,
  decisions: readonly Decision[],
  context: RunContext,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await write(options, push, decisions, context, undefined)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const isLasting = lasting.has(error.code) || tries === mostTries
      if (isLasting) return write(options, push, decisions, context, error.message)
      await options.clock.sleep(250, context.signal)
    }
  }
}

/** `refused` says why the environment rejects the request. */
function write(
  options: PushWorkflowOptions,
  push: PushRow,
  decisions: readonly Decision[],
  context: RunContext,
  refused: string | undefined,
): Promise<void> {
  const { database } = options
  const inUnit = () =>
    context.fenced(async (sql) => {
      const done = await listDecided(sql, push.id)
      const left = decisions.filter(({ service_id }) => !done.has(service_id))
      const wanted = left.filter(({ result }) => result === 'DEPLOYED')
      const services: ServiceRow[] = []
      for (const { service_id } of wanted) {
        const service = await findService(sql, service_id)
        if (service) services.push(service)
      }
      const requestId = refused === undefined ? await request(options, push, services) : undefined
      const isThere = new Set(services.map(({ id }) => id))
      const rows = left.map((one) => outcome(one, refused, isThere))
      await insertPushedServices(
        sql,
        rows.map((row) => ({
          ...row,
          push_id: push.id,
          request_id: row.result === 'DEPLOYED' ? (requestId ?? null) : null,
        })),
      )
      if (requestId === undefined) return
      for (const service of services) await recordChange(sql, entryOf(options, push, service, requestId))
    })
  return unitOfWork(database, inUnit, { owner: push.organization_id })
}

function outcome(one: Decision, refused: string | undefined, isThere: ReadonlySet<string>): Decision {
  if (one.result !== 'DEPLOYED') return one
  if (!isThere.has(one.service_id)) return { ...one, result: 'REFUSED', reason: 'It no longer exists.' }
  return refused === undefined ? one : { ...one, result: 'REFUSED', reason: refused }
}

async function request(
  { deploy }: PushWorkflowOptions,
  { commit, pusher }: PushRow,
  services: readonly ServiceRow[],
): Promise<string | undefined> {
  const [first] = services
  if (!first) return undefined
  const environment = { id: first.environment_id, name: first.environment_name }
  const targets = services.map((service) => {
    return { service, commit, ...(pushedAction(service) === 'PLAN' && { stackAction: 'PLAN' as const }) }
  })
  return deploy(environment, targets, { id: caller, name: pusher, origin: 'GIT' })
}

/** The change as an entry of the audit log. */
const entryOf = ({ clock }: PushWorkflowOptions, push: PushRow, service: ServiceRow, requestId: string) =>
  serviceEntry(service, {
    created_at: clock.now(),
    event_type: pushedAction(service) === 'PLAN' ? 'TRIGGER_DEPLOY_DRY_RUN' : 'TRIGGER_DEPLOY',
    origin: 'GIT',
    by: { name: push.pusher, caller },
    change: {
      deployment_request_id: requestId,
      repository: push.repositories[0],
      branch: push.branch,
      git_commit_id: push.commit,
    },
    request_id: push.id,
  })
