import type { Permission } from '@quayside/contract/operation.ts'
import {
  builtInRoles,
  type CustomRights,
  mayAccess,
  type Place,
  permissionsAt,
  type RoleName,
  rightsOf,
  roleNames,
} from '@quayside/contract/roles.ts'
import { listName, type PeopleLists, type SignInRule } from '@quayside/contract/sign-in.ts'

/** The advanced setting that puts a service behind the platform's sign-in. */
export const signInSetting = 'network.router.sign_in'
/** The value with which every member may enter who sees the environment. */
export const everyMember = 'member'
const mostRoles = 20
const longestRole = 255

/** How routers send people to the platform, and check what they bring back. */
export type SignInIssuer = Pick<SignInRule, 'page' | 'key'>

/** A member of an organization, as far as it decides who may enter. */
export interface MemberFacts {
  readonly account: string
  readonly role: RoleName | null
  readonly custom_role_id: string | null
  readonly custom_role_name: string | null
  readonly custom_rights: CustomRights | null
  readonly permissions: readonly Permission[]
  /** Milliseconds since 1970. Null: the person never signed out. */
  readonly signed_out_ms: number | null
}

/** A person who may enter a service. */
export interface Admitted {
  /** Tokens of an earlier time are invalid. */
  readonly sinceMs: number
  /** The name of the person's role. */
  readonly role: string
}

/**
 * Reads the names or ids of roles as they are written; case makes no difference. Throws if the
 * value is not a list of them.
 */
export function rolesIn(value: string): readonly string[] {
  const roles = value.split(',').map((one) => one.trim())
  if (roles.length > mostRoles) throw new Error(`at most ${mostRoles} roles are possible`)
  const wrong = roles.find((one) => one === '' || one.length > longestRole || /\p{Cc}/u.test(one))
  if (wrong !== undefined) throw new Error('it is neither "member" nor a list of roles such as "DevOps, Support"')
  return roles
}

/** The part of a member that all members with its role share. */
type RoleFacts = Omit<MemberFacts, 'account' | 'signed_out_ms'>

/** Members of an outside issuer have permissions instead of a role. Equal ones count as a role. */
const roleKeyOf = ({ role, custom_role_id, permissions }: RoleFacts): string =>
  role ?? custom_role_id ?? `permissions ${[...permissions].sort().join()}`

const builtInFacts: readonly RoleFacts[] = roleNames.map((role) => ({
  ...{ role, custom_role_id: null, custom_role_name: null, custom_rights: null, permissions: [] },
}))

/**
 * Pure: returns the roles whose members may enter a service, by `roleKeyOf`. A role must see its
 * environment, and be one that the setting names. Administrators may always enter, because they may
 * change the setting. A value that cannot be read admits only them. Built-in roles are listed
 * without a member too, so that a new member changes no rule.
 */
export function rolesAdmitted(setting: string, members: readonly MemberFacts[], place: Place): readonly string[] {
  const wanted = new Set(readable(setting).map((one) => one.toLowerCase()))
  const roles = new Map([...builtInFacts, ...members].map((facts) => [roleKeyOf(facts), facts]))
  const admitted = [...roles].filter(
    ([, facts]) =>
      mayAccess(permissionsAt(rightsOf(facts), place), 'read') && (isAdmin(facts) || hasOne(facts, wanted)),
  )
  return admitted.map(([key]) => key)
}

/** Pure: returns who may enter a service: the members with one of its roles. */
export function admittedBy(
  setting: string,
  members: readonly MemberFacts[],
  place: Place,
): ReadonlyMap<string, Admitted> {
  const roles = new Set(rolesAdmitted(setting, members, place))
  const admitted = members.filter((member) => roles.has(roleKeyOf(member)))
  return new Map(
    admitted.map((member) => [member.account, { sinceMs: member.signed_out_ms ?? 0, role: roleOf(member) }]),
  )
}

/** Pure: returns the members of organizations in the lists to which rules refer. */
export function peopleLists(members: ReadonlyMap<string, readonly MemberFacts[]>): PeopleLists {
  const lists: Record<string, Record<string, number>> = {}
  for (const [organization, own] of members) {
    for (const member of own) {
      const name = listName(organization, roleKeyOf(member))
      const list = lists[name] ?? {}
      lists[name] = list
      list[member.account] = member.signed_out_ms ?? 0
    }
  }
  return lists
}

function readable(setting: string): readonly string[] {
  try {
    return rolesIn(setting)
  } catch {
    // It was stored before values were checked.
    return []
  }
}

const isAdmin = (member: RoleFacts): boolean => permissionsAt(rightsOf(member), {}).includes('ADMIN')

function hasOne(member: RoleFacts, wanted: ReadonlySet<string>): boolean {
  const id = member.custom_role_id
  return wanted.has(everyMember) || wanted.has(roleOf(member).toLowerCase()) || (id !== null && wanted.has(id))
}

/** Returns the name of a role for people. Permissions have none. */
const roleOf = ({ role, custom_role_name }: RoleFacts): string =>
  role === null ? (custom_role_name ?? '') : builtInRoles[role].name

/** The rule of a platform that has no sign-in page. Nobody can enter. */
const closed: SignInRule = { page: 'http://localhost/', key: 'A'.repeat(43), organization: '', roles: [] }

/** Pure: returns the rule of a route. Without an issuer nobody can enter. */
export const signInRule = (
  organization: string,
  roles: readonly string[],
  issuer: SignInIssuer | undefined,
): SignInRule => (issuer === undefined ? closed : { ...issuer, organization, roles })
