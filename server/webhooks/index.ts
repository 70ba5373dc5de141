/**
 * Webhooks: records events, and delivers them, signed and with retries, to registered receivers.
 */
export { recordDeploymentEvent, recordDriftEvent } from './events.ts'
export { createWebhookReconciler } from './reconciler.ts'
export { createDeliveryPruner } from './retention.ts'
export type { WebhookReader } from './shown-to.ts'
export { createWebhooks } from './webhooks.ts'
