import { differsByPlace, mayNameRepository } from '@quayside/contract/roles.ts'
import type { Caller } from '../../access/index.ts'
import { AppError } from '../../lib/error.ts'
import type { Rooms } from './rooms.ts'

/**
 * Throws 403 if the body names a repository of the built-in git host that is used only by services
 * the caller may not read.
 */
export async function requireRepositories(
  { hostedRepositoryUse }: Pick<Rooms, 'hostedRepositoryUse'>,
  { rights }: Pick<Caller, 'rights'>,
  organizationId: string,
  body: unknown,
): Promise<void> {
  if (!differsByPlace(rights)) return
  for (const address of addressesIn(body)) {
    const found = await hostedRepositoryUse(organizationId, address)
    if (!found || mayNameRepository(rights, found.usedAt)) continue
    throw new AppError(
      'forbidden',
      `Repository "${found.name}" is used only in environments that the caller may not read. Ask for READ in ` +
        'one of them.',
    )
  }
}

/** Returns every member `url` of a validated body, at any depth, each value once. */
export function addressesIn(body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return []
  const inner = Object.entries(body).flatMap(([name, value]) =>
    name === 'url' && typeof value === 'string' ? [value] : addressesIn(value),
  )
  return [...new Set(inner)]
}
