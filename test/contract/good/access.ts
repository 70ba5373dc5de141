import type { OperationName } from '../../../contract/contract.ts'
import { newId } from '../../../server/lib/id.ts'
import type { Objects } from '../../support/fixture.ts'
import { addPerson, signIn } from '../../support/people.ts'
import type { Platform } from '../../support/platform.ts'
import type { Good } from '../requests.ts'

const user_id = '0190b000-0000-7000-8000-000000000001'

/** A member with a known id, in an organization without an owner. */
async function prepareMember({ database }: Platform, { organizationId }: Objects): Promise<undefined> {
  await database`delete from account where id = ${user_id}`
  await database`update organization set owner = null where id = ${organizationId}`
  await addPerson(database, { id: user_id, email: 'known@a.example', member: { organizationId, role: 'VIEWER' } })
}

const asAdmin = async (platform: Platform, { organizationId }: Objects): Promise<string> => {
  const member = { organizationId, role: 'ADMIN' as const }
  return signIn(platform, (await addPerson(platform.database, { email: `${newId()}@a.example`, member })).id)
}

export const accessRequests: Partial<Record<OperationName, Good>> = {
  editOrganizationMemberRole: {
    // The id of a built-in role follows from the organization's id. `prepare` creates a custom role
    // with this id.
    body: { user_id, role_id: '0190b000-0000-7000-8000-0000000000aa' },
    prepare: async (platform, objects) => {
      await prepareMember(platform, objects)
      const { organizationId } = objects
      await platform.database`
        insert into custom_role (id, organization_id, created_at, updated_at, name)
        values ('0190b000-0000-7000-8000-0000000000aa', ${organizationId}, now(), now(), 'known')
        on conflict do nothing`
      return undefined
    },
  },
  deleteMember: { body: { user_id }, prepare: prepareMember },
  postOrganizationTransferOwnership: { body: { user_id }, prepare: prepareMember },
  postInviteMember: {
    body: { email: 'new@a.example', role: 'ADMIN' },
    prepare: async ({ database }) => {
      await database`delete from invitation where email = 'new@a.example'`
      return undefined
    },
  },
  postAcceptInviteMember: {
    of: ({ more }) => ({ body: { invitation_link: more['invitationLink'] } }),
    credential: async (platform, { more }) => {
      const [row] = await platform.database<{ email: string }[]>`
        select email from invitation where id = ${more['inviteId'] ?? ''}`
      return signIn(platform, (await addPerson(platform.database, { email: row?.email ?? '' })).id)
    },
  },
  createOrganizationCustomRole: { body: { name: 'A new role', description: 'for a test' } },
  editOrganizationCustomRole: { body: { name: 'A changed role', cluster_permissions: [], project_permissions: [] } },
  listOrganizationPolicyApiTokens: { empty: true },
  editAccountInformation: { body: { communication_email: 'ada@a.example' }, credential: asAdmin },
  createOrganization: { body: { name: 'Another organization', plan: 'FREE' }, credential: asAdmin },
  deleteOrganization: {
    prepare: async ({ database, rooms }) => {
      const { id } = await addPerson(database, { email: `${newId()}@a.example` })
      return { organizationId: (await rooms.organizations.create({ kind: 'account', id }, { name: newId() })).id }
    },
    credential: async (platform, { organizationId }) => {
      const [row] = await platform.database<{ owner: string }[]>`
        select owner from organization where id = ${organizationId}`
      return signIn(platform, row?.owner ?? '')
    },
  },
}
