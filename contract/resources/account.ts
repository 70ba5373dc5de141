import { operation } from '../operation.ts'
import { base, Enum, Nullable, Text, Type } from '../schema.ts'

const person = { first_name: Type.String(), last_name: Type.String() }

export const AccountInfo = Type.Object({
  ...base,
  ...person,
  nickname: Type.String(),
  profile_picture_url: Type.String(),
  communication_email: Type.String(),
})

const text = Nullable(Type.String())

export const SignUp = Type.Object({
  ...base,
  ...person,
  user_email: Type.String(),
  type_of_use: Enum(['PERSONAL', 'SCHOOL', 'WORK']),
  qovery_usage: Type.String(),
  company_name: text,
  company_size: Nullable(Enum(['1-10', '11-50', '51-200', '201-500', '500+'])),
  user_role: text,
  qovery_usage_other: text,
  user_questions: text,
  current_step: text,
  dx_auth: Nullable(Type.Boolean()),
  infrastructure_hosting: text,
})

const tag = 'Account'
const onCaller = { target: 'caller', access: 'read', tag, status: 200 } as const

export const accountOperations = {
  getAccountInformation: operation({
    ...onCaller,
    method: 'GET',
    path: '/account',
    handler: 'getAccount',
    summary: 'Returns the caller: a person, or the name of an API token.',
    reply: AccountInfo,
  }),
  editAccountInformation: operation({
    ...onCaller,
    method: 'PUT',
    path: '/account',
    handler: 'editAccount',
    event: { type: 'UPDATE', target: 'MEMBERS_AND_ROLES' },
    summary: 'Changes the contact address of the caller. Null removes it. 403 for API tokens, which have no account.',
    body: Type.Object({ communication_email: Type.Optional(Nullable(Text(320, 3))) }),
    reply: AccountInfo,
  }),
  getUserSignUp: operation({
    ...onCaller,
    method: 'GET',
    path: '/admin/userSignUp',
    handler: 'getSignUp',
    summary: 'Returns the sign-up data of the caller. There is no sign-up here, so it has little more than the name.',
    reply: SignUp,
  }),
} as const
