import type { ClientHttp2Session } from 'node:http2'

/**
 * Ends a session with its test. The other side may end it before that, which is no error of the
 * test: its streams report theirs.
 */
export function endAfter(
  t: { after(work: () => Promise<void>): void },
  session: Pick<ClientHttp2Session, 'on' | 'destroy'>,
): void {
  session.on('error', () => {})
  t.after(async () => session.destroy())
}
