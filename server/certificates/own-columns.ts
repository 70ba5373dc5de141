import type { SealedColumn } from '../lib/seal.ts'

/**
 * The columns of this room that the master key itself seals. An exchange of the key seals them
 * again.
 */
export const ownColumns: readonly SealedColumn[] = [
  { table: 'acme_account', column: 'sealed_key', key: ['directory'] },
  { table: 'host_certificate', column: 'sealed_key', key: ['host'] },
]

export const accountKeyCell = (directory: string) => ({ table: 'acme_account', row: directory, column: 'sealed_key' })
export const hostKeyCell = (host: string) => ({ table: 'host_certificate', row: host, column: 'sealed_key' })
/** The organization's data key seals it. */
export const uploadedKeyCell = (customDomainId: string) => ({
  table: 'uploaded_certificate',
  row: customDomainId,
  column: 'sealed_key',
})
