import { type Caller, listAvailableRoles, ownRights, visible } from '../../access/index.ts'
import type { Handlers } from '../call.ts'
import type { Rooms } from './rooms.ts'

/** Handlers for members, invitations and roles of an organization, and for the caller's account. */
export const memberHandlers = ({ database, members, invitations, customRoles, accountInfo }: Rooms) => {
  const idOf = (ids: readonly string[], place = 0): string => ids[place] ?? ''
  return {
    listMembers: async ({ target }) => ({ results: await members.list(target.id) }),
    editMemberRole: async ({ target, body }) => void (await members.setRole(target.id, body)),
    deleteMember: async ({ target, body }) => void (await members.remove(target.id, body.user_id)),
    transferOwnership: async ({ target, body }) => void (await members.transferOwnership(target.id, body.user_id)),
    listAvailableRoles: async ({ target }) => ({ results: await listAvailableRoles(database, target.id) }),

    getOwnRights: async ({ target, caller }) => ownRights(caller.rights, target.owner !== null),

    listInvitations: async ({ target }) => ({ results: await invitations.list(target.id) }),
    createInvitation: ({ target, caller, body }) => invitations.create(target.id, caller, body),
    getInvitation: ({ target, ids }) => invitations.get(target.id, idOf(ids)),
    acceptInvitation: ({ ids, caller, body }) =>
      invitations.accept(idOf(ids), idOf(ids, 1), caller, body.invitation_link),
    deleteInvitation: async ({ target, ids }) => void (await invitations.remove(target.id, idOf(ids))),

    listCustomRoles: async ({ target, caller }) => ({
      results: withVisibleProjects(caller, await customRoles.list(target.id)),
    }),
    createCustomRole: ({ target, body }) => customRoles.create(target.id, body),
    getCustomRole: async ({ target, ids, caller }) => {
      const role = await customRoles.get(target.id, idOf(ids))
      return withVisibleProjects(caller, [role])[0] ?? role
    },
    editCustomRole: ({ target, ids, body }) => customRoles.edit(target.id, idOf(ids), body),
    deleteCustomRole: async ({ target, ids }) => void (await customRoles.remove(target.id, idOf(ids))),

    getAccount: ({ caller }) => accountInfo.get(caller),
    editAccount: ({ caller, body }) => accountInfo.edit(caller, body),
    getSignUp: ({ caller }) => accountInfo.signUp(caller),
  } satisfies Partial<Handlers>
}

type ProjectsOfRole = { readonly project_permissions: readonly { readonly project_id: string }[] }

/** Returns roles without their rights on projects that the caller may not read. */
function withVisibleProjects<R extends ProjectsOfRole>(caller: Caller, roles: readonly R[]) {
  const { all, project } = visible(caller)
  if (all) return roles
  // Every role lists the same projects.
  const ids = new Set(roles.flatMap((role) => role.project_permissions.map(({ project_id }) => project_id)))
  const readable = new Set([...ids].filter(project))
  return roles.map((role) => ({
    ...role,
    project_permissions: role.project_permissions.filter(({ project_id }) => readable.has(project_id)),
  }))
}
