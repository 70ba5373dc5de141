/** Reason for an abort of what nobody waits for any more. Without a reason, each one makes an exception with its stack. */
export const nobodyWaits = 'nobody waits for it any more'
