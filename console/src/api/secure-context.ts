/**
 * Throws if the browser has no cryptography for this page, which it needs to sign somebody in. It
 * has none on pages over plain HTTP, except those of the same machine.
 */
export function requireSecureContext(): void {
  // The types say that it is always there.
  if ((crypto.subtle as SubtleCrypto | undefined) !== undefined) return
  throw new Error(
    `The console cannot sign you in at ${location.origin}, because the browser forbids that over plain HTTP. Open it ` +
      'over HTTPS, or at localhost on the machine itself, for example through a tunnel of SSH.',
  )
}
