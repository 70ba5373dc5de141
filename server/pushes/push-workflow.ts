import type { Database } from '../database/index.ts'
import type { GitDriver, OwnedRepository } from '../git/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { PushedTarget, RequestedBy } from '../requests/index.ts'
import type { Repository, ServiceRow } from '../services/index.ts'
import type { Workflow } from '../workflows/index.ts'
import { type Decision, decidePush } from './decide.ts'
import { deployPushed } from './deploy-pushed.ts'
import { pushWorkflow } from './push.ts'
import { findPush, setPushHandled } from './push-store.ts'

export interface PushWorkflowOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  readonly git: Pick<GitDriver, 'resolveHead' | 'changedPaths'>
  /** Returns the repository of a service with the credentials for reading it. */
  readonly repositoryOf: (service: ServiceRow, repository: Repository) => Promise<OwnedRepository>
  /** The origins of the built-in git host. */
  readonly home: readonly string[]
  /** Returns why a service cannot be deployed at all. */
  readonly refusalOf: (service: ServiceRow) => string | undefined
  /**
   * Requests one deployment of these services of one environment and returns the request's id.
   * Throws the reason if it is not allowed.
   */
  readonly deploy: (
    environment: { readonly id: string; readonly name: string },
    targets: readonly PushedTarget[],
    by: RequestedBy,
  ) => Promise<string>
}

interface Input {
  readonly pushId: string
  readonly [key: string]: string
}

/**
 * Handles a push. DECIDE decides for every service with automatic deployments of that repository.
 * Then each environment gets one request for the services to deploy.
 */
export function createPushWorkflow(options: PushWorkflowOptions): Workflow<Input> {
  const { database, clock, log } = options
  return {
    name: pushWorkflow,
    run: async ({ pushId }, step, context) => {
      const push = await findPush(database, pushId)
      if (!push) return
      const decisions: Decision[] = await step('DECIDE', ({ signal }) => decidePush(options, push, signal), {
        deadlineSeconds: 300,
      })
      for (const [environmentId, ofEnvironment] of Map.groupBy(decisions, ({ environment_id }) => environment_id)) {
        await step(`DEPLOY ${environmentId}`, () => deployPushed(options, push, ofEnvironment, context))
      }
      await step('END', () => context.fenced((sql) => setPushHandled(sql, pushId, clock.now())), {
        evenIfCanceled: true,
      })
      const services = decisions.map(({ service_name, result, reason }) => ({ name: service_name, result, reason }))
      const { repositories, branch, commit, pusher } = push
      log.info({ pushId, repository: repositories[0], branch, commit, pusher, services }, 'git push handled')
    },
    abandoned: async ({ pushId }, reason, sql) => {
      log.warn({ pushId, reason }, 'a git push could not be handled; deploy the services of its repository by hand')
      await setPushHandled(sql, pushId, clock.now())
    },
  }
}
