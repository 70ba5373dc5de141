import type { Handlers } from '../call.ts'
import type { Rooms } from './rooms.ts'

/** Handlers for the audit log of an organization. */
export const organizationEventHandlers = ({ audit }: Rooms) =>
  ({
    listOrganizationEvents: ({ target, query }) => audit.events(target.id, query),
    listOrganizationEventTargets: ({ target, query }) => audit.targets(target.id, query),
  }) satisfies Partial<Handlers>
