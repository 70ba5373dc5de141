/** Certificates for the hosts of the platform's own router: orders, renewals, uploads, states. */
export { type Certificates, createCertificates } from './certificates.ts'
export type { DnsSettings } from './dns-settings.ts'
export { ownColumns } from './own-columns.ts'
export { isCertifiable, letsEncrypt, localAuthority } from './policy.ts'
export { createUploads, type Uploads } from './uploads.ts'
