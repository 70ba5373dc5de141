/** Tells receivers what happened: registration, signed deliveries, retries. What happened is the events room's. */
export { createWebhookReconciler, type WebhookReconcilerOptions } from './reconciler.ts'
export { sealedColumns } from './sealed-columns.ts'
export { createWebhooks, type WebhookRequest } from './webhooks.ts'
