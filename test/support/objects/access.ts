import type { Contribution } from '../fixture.ts'
import { addPerson } from '../people.ts'

/** A custom role, a member with it, and somebody who is invited. */
export const accessObjects: Contribution = async ({ database, rooms, tenant, suffix }) => {
  const { organizationId, name } = tenant
  const role = await rooms.customRoles.create(organizationId, { name: `role ${suffix}` })
  const member = { organizationId, customRoleId: role.id }
  await addPerson(database, { email: `member-${suffix}@${name.toLowerCase()}.example`, member })
  const inviter = {
    id: organizationId,
    kind: 'token',
    name: 'fixture',
    accountId: undefined,
    permissions: ['ADMIN'],
    rights: { permissions: ['ADMIN'] },
    organizationId,
  } as const
  const email = `guest-${suffix}@${name.toLowerCase()}.example`
  const invitation = await rooms.invitations.create(organizationId, inviter, { email })
  // Free of holders, so that it can be deleted.
  const free = await rooms.customRoles.create(organizationId, { name: `free role ${suffix}` })
  return { customRoleId: free.id, inviteId: invitation.id }
}
