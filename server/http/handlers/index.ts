import type { Handlers } from '../call.ts'
import { environmentHandlers } from './environment.ts'
import { organizationHandlers } from './organization.ts'
import type { Rooms } from './rooms.ts'
import { serviceHandlers } from './service.ts'
import { variableHandlers } from './variable.ts'

/** One function for every handler name of the contract; the type says when one is missing. */
export const createHandlers = (rooms: Rooms): Handlers => ({
  ...organizationHandlers(rooms),
  ...environmentHandlers(rooms),
  ...serviceHandlers(rooms),
  ...variableHandlers(rooms),
})

export type { Rooms } from './rooms.ts'
