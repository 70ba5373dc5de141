import type { TlsMaterial } from '@quayside/contract/routes.ts'
import { type ControlAnswer, type ControlRequest, unexpected } from './control-answer.ts'
import type { TlsSource } from './tls-source.ts'

/** Asks a router about certificates. Throws if it does not answer. */
type Ask = (question: Pick<ControlRequest, 'method' | 'path' | 'body'>) => Promise<ControlAnswer>

/**
 * Sends certificates and challenges to a router process, unless it confirms that it has them.
 * Throws what `ask` throws, or an Error if the router refuses them.
 */
export async function sendCertificates(source: Pick<TlsSource, 'mark' | 'material'>, ask: Ask): Promise<void> {
  const mark = await source.mark()
  const known = await ask({ method: 'POST', path: '/tls', body: { mark } })
  if (known.status === 200) return
  if (known.status !== 409) throw unexpected(known)
  const material: TlsMaterial = await source.material()
  const answer = await ask({ method: 'PUT', path: '/tls', body: { ...material, mark } })
  if (answer.status !== 200) throw unexpected(answer)
}
