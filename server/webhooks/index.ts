/** Tells receivers what happened: registration, signed deliveries, retries. What happened is the events room's. */
export { createWebhookReconciler, type WebhookReconcilerOptions } from './reconciler.ts'
export { createWebhooks, type WebhookRequest } from './webhooks.ts'
