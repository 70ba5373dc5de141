/** The outbox: what happened, written in the transaction of the change. Tells nobody by itself. */
export type { DeploymentPayload, EventRow } from './event-store.ts'
export { recordDeploymentEvent } from './events.ts'
