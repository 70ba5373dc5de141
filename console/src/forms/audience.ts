import { builtInRoles } from '@quayside/contract/roles.ts'
import type { Draft, Json } from './draft.ts'
import type { FieldSpec, Option } from './fields.ts'

// Who may open the addresses of a service, as a form. The API has one text for it.

/** The advanced setting. */
export const audienceKey = 'network.router.sign_in'
const everyMember = 'member'

/** A role of the organization. */
export interface Role {
  readonly id: string
  readonly name: string
}

const builtIn: ReadonlySet<string> = new Set(Object.values(builtInRoles).map(({ name }) => name))
/** Administrators may always enter, and a billing manager sees no environment. */
const fixed: ReadonlySet<string> = new Set(
  (['OWNER', 'ADMIN', 'BILLING_MANAGER'] as const).map((role) => builtInRoles[role].name),
)
/** A custom role keeps its id when it is renamed. */
const tokenOf = ({ id, name }: Role): string => (builtIn.has(name) ? name : id)

/** Pure: the roles that a person may choose. */
export const choosableRoles = (roles: readonly Role[]): readonly Option[] =>
  roles.filter(({ name }) => !fixed.has(name)).map((role) => ({ value: tokenOf(role), label: role.name }))

const namedIn = (value: Json): readonly string[] =>
  typeof value === 'string' && value !== ''
    ? value
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== '')
    : []
const isMember = (names: readonly string[]): boolean => names.some((one) => one.toLowerCase() === everyMember)

/** Pure: the setting as the values of the form. Roles that no longer exist are left out. */
export function audienceDraft(value: Json, roles: readonly Role[]): Draft {
  const names = namedIn(value)
  if (names.length === 0) return { who: 'everybody', roles: [] }
  if (isMember(names)) return { who: 'member', roles: [] }
  const found = names.flatMap((name) => roles.find((role) => isRole(role, name)) ?? [])
  return { who: 'roles', roles: found.map(tokenOf) }
}

const isRole = ({ id, name }: Role, text: string): boolean =>
  id === text.toLowerCase() || name.toLowerCase() === text.toLowerCase()

/** Pure: the values of the form as the setting. */
export function audienceValue(draft: Draft): string | null {
  if (draft['who'] === 'member') return everyMember
  if (draft['who'] !== 'roles') return null
  // Without a role only administrators may enter, whose role is always accepted.
  const chosen = Array.isArray(draft['roles']) ? draft['roles'].map(String) : []
  return chosen.length === 0 ? builtInRoles.ADMIN.name : chosen.join(', ')
}

/** Pure: a sentence that says who may open the addresses. */
export function audienceWords(value: Json, roles: readonly Role[]): string {
  const names = namedIn(value)
  if (names.length === 0) return 'Everybody who knows an address.'
  if (isMember(names)) return 'Members of the organization who may see this environment, signed in at this platform.'
  const words = names.map((name) => roles.find((role) => isRole(role, name))?.name ?? 'a role that no longer exists')
  const others = words.filter((name) => !fixed.has(name))
  if (others.length === 0) return 'Administrators of the organization, signed in at this platform.'
  return `Members with the role ${listOf(others)}, and administrators, signed in at this platform.`
}

const listOf = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

/** Pure: the fields of the form. */
export const audienceFields =
  (roles: readonly Role[]) =>
  (draft: Draft): readonly FieldSpec[] => [
    {
      path: 'who',
      label: 'Open to',
      type: 'select',
      hint: 'People sign in at this platform, and the program gets their name in headers.',
      options: [
        { value: 'everybody', label: 'everybody' },
        { value: 'member', label: 'members who may see this environment' },
        { value: 'roles', label: 'members with some roles' },
      ],
    },
    ...(draft['who'] === 'roles'
      ? [
          {
            path: 'roles',
            label: 'Roles',
            type: 'choices' as const,
            hint: 'Administrators may always open it.',
            options: choosableRoles(roles),
          },
        ]
      : []),
  ]
