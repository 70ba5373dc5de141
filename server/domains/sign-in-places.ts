import type { Database } from '../database/index.ts'
import { addressOf, type PublicAddress, urlOf } from './links.ts'
import { type Admitted, admittedBy } from './sign-in-rule.ts'
import { findRouteAt, findSignInService } from './sign-in-store.ts'

/** A service behind the sign-in, at one of its hosts. */
export interface SignInPlace {
  readonly name: string
  /** Scheme, host and port. */
  readonly origin: string
  /** Who may enter, by the ids of their accounts. */
  readonly people: ReadonlyMap<string, Admitted>
}

export interface SignInPlaces {
  /**
   * Finds a service behind the sign-in by its id, at a host that leads to it. `isSecure`: its
   * router says that clients use HTTPS, also if a proxy in front ends it. Undefined if it has no
   * such host, or is open to everybody.
   */
  find(at: {
    readonly service: string
    readonly host: string
    readonly isSecure: boolean
  }): Promise<SignInPlace | undefined>
}

/** Creates what finds services behind the sign-in. `address` is that of the platform's router. */
export function createSignInPlaces({
  database,
  address,
}: {
  readonly database: Database
  readonly address: PublicAddress
}): SignInPlaces {
  return {
    find: async ({ service, host, isSecure }) => {
      const row = await findSignInService(database, service)
      const route = row && (await findRouteAt(database, service, host))
      if (!row || row.sign_in === null || !route) return undefined
      const place = { projectId: row.project_id, mode: row.mode }
      return {
        name: row.name,
        // A port that a browser names could be one of another service.
        origin: urlOf(host, addressOf(route, address, isSecure)),
        people: admittedBy(row.sign_in, row.members ?? [], place),
      }
    },
  }
}
