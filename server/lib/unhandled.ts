import type { Logger } from './log.ts'

/** Logged for a promise that was rejected and that nothing waits for. Only a bug causes it. */
export const unhandledMessage = 'a promise was rejected and nothing handled it; this is a bug of the platform'

/**
 * Logs rejected promises that nothing waits for, and continues. Without this, Node.js ends the
 * process, and an API server of one organization could end the platform of all of them. An
 * exception that nothing catches still ends the process, because its work may be half done (ADR
 * 0071).
 */
export function reportUnhandled(log: Pick<Logger, 'error'>): void {
  process.on('unhandledRejection', (error: unknown) => log.error({ err: error }, unhandledMessage))
}
