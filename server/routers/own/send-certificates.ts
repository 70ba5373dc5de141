import type { TlsMaterial } from '@quayside/contract/routes.ts'
import { unexpected } from '../control-answer.ts'
import type { TlsSource } from '../tls-source.ts'
import { askRouter } from './control.ts'

export interface CertificatesAt {
  readonly controlSocket: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/**
 * Sends certificates and challenges to a router process, unless it confirms that it has them.
 * Throws `unavailable` if it does not answer.
 */
export async function sendCertificates(
  source: Pick<TlsSource, 'mark' | 'material'>,
  { controlSocket, ...limits }: CertificatesAt,
): Promise<void> {
  const mark = await source.mark()
  const known = await askRouter(controlSocket, { method: 'POST', path: '/tls', body: { mark }, ...limits })
  if (known.status === 200) return
  if (known.status !== 409) throw unexpected(known)
  const material: TlsMaterial = await source.material()
  const answer = await askRouter(controlSocket, { method: 'PUT', path: '/tls', body: { ...material, mark }, ...limits })
  if (answer.status !== 200) throw unexpected(answer)
}
