import { derivedId } from '../lib/id.ts'

/**
 * The id of a built-in variable, the same every time. It begins with the digits of the owner's id (its version apart), so
 * that the owner is found again by the id alone: see `variableTarget`.
 */
export const builtInId = (ownerId: string, key: string): string =>
  `${ownerId.slice(0, 14)}8${ownerId.slice(15, 18)}${derivedId(ownerId, key).slice(18)}`
