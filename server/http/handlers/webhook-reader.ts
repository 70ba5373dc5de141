import { type Caller, mayOn, visible } from '../../access/index.ts'
import type { WebhookReader } from '../../webhooks/index.ts'
import type { Rooms } from './rooms.ts'

/** Returns what the caller may see of the webhooks of the organization. */
export async function webhookReader(
  { projects }: Pick<Rooms, 'projects'>,
  organizationId: string,
  caller: Pick<Caller, 'rights'>,
): Promise<WebhookReader> {
  const { all, environment, project } = visible(caller)
  const mayEdit = mayOn(caller, 'admin', {})
  if (all || mayEdit) return { mayEdit, environment, projectNames: undefined }
  const readable = (await projects.list(organizationId)).filter(({ id }) => project(id))
  return { mayEdit, environment, projectNames: new Set(readable.map(({ name }) => name.toLowerCase())) }
}
