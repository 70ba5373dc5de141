import type { CertificateScope } from './certificate-store.ts'
import type { DnsProof } from './dns-proof.ts'

/** Pure: the names of which an installation has certificates. */
export const scopeOf = ({
  hosts,
  dns,
}: {
  readonly hosts: readonly string[]
  readonly dns?: DnsProof | undefined
}): CertificateScope => ({
  own: hosts,
  shared: dns?.domain ?? null,
})
