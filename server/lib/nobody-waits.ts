/**
 * Abort reason for work that nobody waits for. Without a reason, each abort creates an exception
 * with its stack.
 */
export const nobodyWaits = 'nobody waits for it any more'
