import type { Database } from '../../../server/database/index.ts'
import { newId } from '../../../server/lib/id.ts'
import { lifecycleTemplatesOf } from '../../../server/services/index.ts'
import { canaryOf } from '../canary.ts'
import type { Contribution, Objects } from '../fixture.ts'

/** Adds a registry and a Helm repository with a secret each. Nothing uses them. */
export const addGitObjects: Contribution = async ({ database, rooms, tenant, objects, suffix }) => {
  const { containerRegistries, helmRepositories } = rooms.registries
  const config = { username: 'robot', password: canaryOf(tenant) }
  const registry = await containerRegistries.create(tenant.organizationId, {
    name: `registry ${suffix}`,
    kind: 'GENERIC_CR',
    url: 'https://registry.invalid',
    config,
  })
  const repository = await helmRepositories.create(tenant.organizationId, {
    name: `charts ${suffix}`,
    kind: 'HTTPS',
    url: 'https://charts.invalid/stable',
    skip_tls_verification: false,
    config,
  })
  const gitWebhook = await rooms.gitWebhooks.create(tenant.organizationId, { provider: 'GITHUB' })
  await addPush(database, tenant.organizationId, gitWebhook.id, suffix)
  return {
    gitWebhookId: gitWebhook.id,
    webhookEventId: await addDelivery(database, tenant.organizationId, objects),
    containerRegistryId: registry.id,
    helmRepositoryId: repository.id,
    serviceId: objects.applicationId,
    lifecycleTemplateId: lifecycleTemplatesOf(tenant.organizationId)[0]?.id ?? '',
  }
}

/** Adds a delivery of the webhook that has ended. */
async function addDelivery(
  database: Database,
  organizationId: string,
  { webhookId, projectId, environmentId }: Pick<Objects, 'webhookId' | 'projectId' | 'environmentId'>,
): Promise<string> {
  const [eventId, id] = [newId(), newId()]
  await database`
    insert into event (id, organization_id, project_id, environment_id, type, payload_id, payload, created_at,
      dispatched_at)
    values (${eventId}, ${organizationId}, ${projectId}, ${environmentId}, 'DEPLOYMENT_STARTED', ${newId()}, '{}',
      now(), now())`
  await database`
    insert into webhook_delivery (id, webhook_id, event_id, event_seq, created_at, state, attempts, next_attempt_at,
      response_status_code, finished_at)
    select ${id}, ${webhookId}, id, seq, now(), 'delivered', 1, now(), 204, now() from event where id = ${eventId}`
  return id
}

/** Adds a push that the webhook received. No service follows it. */
async function addPush(
  database: Database,
  organizationId: string,
  gitWebhookId: string,
  suffix: number,
): Promise<void> {
  const id = newId()
  const commit = `${suffix}`.padStart(40, '0')
  await database`insert into workflow (id, kind, key, input, state) values (${id}, 'git push', ${id}, '{}', 'done')`
  await database`
    insert into git_push (id, organization_id, source, repositories, branch, commit, pusher, received_at, handled_at)
    values (${id}, ${organizationId}, 'GITHUB', '{github.com/a/b}', 'main', ${commit}, 'Ada', now(), now())`
  await database`
    insert into git_webhook_delivery (git_webhook_id, delivery_id, received_at, event, status)
    values (${gitWebhookId}, ${id}, now(), 'push', 'ACCEPTED')`
}
