import type { DeliveryRow } from './shown-delivery-store.ts'
import { shortenedAddress } from './target-address.ts'
import type { WebhookRow } from './webhook-store.ts'

/** The rights of somebody who reads webhooks. */
export interface WebhookReader {
  /** Whether the reader may edit webhooks. Everything is shown then. */
  readonly mayEdit: boolean
  /** Whether the reader may read environments of that mode of the project. */
  environment(projectId: string, mode: string): boolean
  /** The names of the projects that the reader may read, in lower case. Undefined for all. */
  readonly projectNames: ReadonlySet<string> | undefined
}

/** Returns the webhook as far as the reader may see it. */
export function webhookShownTo(
  { mayEdit, projectNames }: Pick<WebhookReader, 'mayEdit' | 'projectNames'>,
  row: WebhookRow,
): WebhookRow {
  if (mayEdit) return row
  // Patterns are parts of names, too. Comparing them with every name would take long.
  const isKnown = (filter: string): boolean => projectNames?.has(filter.toLowerCase()) ?? true
  return {
    ...row,
    target_url: shortenedAddress(row.target_url),
    project_names_filter: row.project_names_filter.filter(isKnown),
  }
}

/** Returns the deliveries that the reader may see, as far as the reader may see them. */
export function deliveriesShownTo(
  { mayEdit, environment }: Pick<WebhookReader, 'mayEdit' | 'environment'>,
  rows: readonly DeliveryRow[],
): readonly DeliveryRow[] {
  if (mayEdit) return rows
  return rows
    .filter(({ project_id, environment_mode }) => environment(project_id, environment_mode))
    .map((row) => ({
      ...row,
      target_url_used: shortenedAddress(row.target_url_used),
      // Receivers repeat the path of the request in their answers.
      response_body: null,
    }))
}
