import { derivedId } from '../lib/id.ts'

/**
 * The stable id of a built-in variable. It begins with the digits of its owner's id, without the
 * version digit. `variableTarget` finds the owner by them.
 */
export const builtInId = (ownerId: string, key: string): string =>
  `${ownerId.slice(0, 14)}8${ownerId.slice(15, 18)}${derivedId(ownerId, key).slice(18)}`
