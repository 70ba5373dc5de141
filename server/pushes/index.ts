/**
 * Pushes to git repositories: reported by the built-in git host or by webhooks of git providers,
 * recorded, and deployed if services ask for it.
 */
export { createGitWebhooks, type GitWebhooks } from './git-webhooks.ts'
export { createHostedPushes, type HostedPushes } from './hosted-pushes.ts'
export { createPushPruner, createPushRecords, type PushRecords } from './push-records.ts'
export { createPushWorkflow, type PushWorkflowOptions } from './push-workflow.ts'
export { createReceiver, type Received, type Receiver } from './receive.ts'
export { type HostedRepositoryUse, hostedRepositoryUse, placesOfRepository } from './used-at.ts'
