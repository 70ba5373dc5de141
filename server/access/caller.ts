import type { Access, Permission } from '@quayside/contract/operation.ts'

/** Who asks, once the door has checked the credential. */
export interface Caller {
  /** Of the API token or of the account. */
  readonly id: string
  readonly kind: 'token' | 'account'
  readonly name: string
  readonly permissions: readonly Permission[]
  /** Of the token; of an account, the one that the target belongs to. */
  readonly organizationId: string
}

/** Read is part of every permission; deploy and write do not contain each other; admin contains all. */
export function mayAccess(permissions: readonly Permission[], access: Access): boolean {
  if (permissions.includes('ADMIN')) return true
  switch (access) {
    case 'read':
      return permissions.length > 0
    case 'deploy':
      return permissions.includes('DEPLOY')
    case 'write':
      return permissions.includes('WRITE')
    case 'admin':
      return false
  }
}

/** Whether a caller with these permissions may hand out those. */
export const mayGrant = (own: readonly Permission[], given: readonly Permission[]): boolean =>
  own.includes('ADMIN') || given.every((permission) => own.includes(permission))
