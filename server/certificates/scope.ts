import type { SecuredPlace } from '../domains/index.ts'
import type { CertificateScope } from './certificate-store.ts'
import type { DnsProof } from './dns-proof.ts'

/** Pure: the names of which the routers at a place have certificates. */
export const scopeOf = ({
  hosts,
  dns,
  at,
}: {
  readonly hosts: readonly string[]
  readonly dns?: Pick<DnsProof, 'domain'> | undefined
  readonly at: SecuredPlace
}): CertificateScope => ({
  own: at === 'machine' ? hosts : [],
  shared: dns?.domain ?? null,
  at,
})
