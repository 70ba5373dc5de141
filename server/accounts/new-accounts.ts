import { createHash, randomBytes } from 'node:crypto'
import { addOwner, findAccount, type Invitations, insertAccount, mailAddress } from '../access/index.ts'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { newRandomId } from '../lib/id.ts'
import { checkName } from '../lib/text.ts'
import { findLink, findOwnerless, replaceLink, useLink } from './account-link-store.ts'
import { ownAccounts } from './issuer.ts'
import { findPasswords, type PasswordRow, savePassword } from './password-store.ts'
import { checkPassword, hashPassword, inTurnOfClient } from './passwords.ts'
import { type Attempt, clientSubject } from './sign-in.ts'
import { returnAttempt } from './sign-in-store.ts'

const lifetimeMs = 24 * 3600 * 1000
const digest = (token: string): Buffer => createHash('sha256').update(token).digest()

export interface NewPerson {
  readonly name: string
  readonly email: string
  readonly password: string
}

interface FromClient {
  /** The address of the client. */
  readonly address: string
}

export interface NewAccountsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly publicUrl: string
  readonly invitations: Pick<Invitations, 'open' | 'join'>
  readonly signIn: (attempt: Attempt) => Promise<string>
}
export type NewAccounts = ReturnType<typeof createNewAccounts>

/**
 * Creates accounts: the first by the link that the start prints, others by the link of an
 * invitation.
 */
export function createNewAccounts({ database, clock, publicUrl, invitations, signIn }: NewAccountsOptions) {
  return {
    /**
     * Creates the link to the first account while nobody owns the first organization. It
     * invalidates a previous link.
     */
    async firstAccountLink(): Promise<string | undefined> {
      const token = randomBytes(32).toString('base64url')
      return inTransaction(database, async (sql) => {
        const organization_id = await findOwnerless(sql)
        if (organization_id === undefined) return undefined
        const now = clock.now()
        const expires_at = new Date(now.getTime() + lifetimeMs)
        await replaceLink(sql, { token_hash: digest(token), organization_id, created_at: now, expires_at })
        return `${publicUrl}/setup/${token}`
      })
    },

    /** Whether the link is valid. */
    isFirstAccountLink: async (token: string) => (await findLink(database, digest(token), clock.now())) !== undefined,

    /**
     * Creates the first account, which owns the first organization. Throws 404 if the link is
     * invalid.
     */
    async makeFirst(token: string, { address, ...person }: NewPerson & FromClient): Promise<void> {
      const checked = check(person)
      // Checked before the password is hashed, so that a request without a link costs nothing.
      if ((await findLink(database, digest(token), clock.now())) === undefined) throw goneLink()
      const account = await accountFor(checked, address)
      await inTransaction(database, async (sql) => {
        const organizationId = await findLink(sql, digest(token), clock.now())
        if (!organizationId || !(await useLink(sql, digest(token), clock.now()))) throw goneLink()
        await addOwner(sql, organizationId, await account(sql), clock.now())
      })
    },

    /** Returns the invitation of a link. */
    async openInvitation(proof: string) {
      const invitation = await invitations.open(proof)
      if (!invitation) return undefined
      const { email, organization_name: organization, inviter } = invitation
      return { email, organization, inviter }
    },

    /**
     * Joins the organization of an invitation: with an account that the person has for the address,
     * or with a new one. Other accounts with that address do not prevent a new one.
     */
    async join(proof: string, given: Pick<NewPerson, 'name' | 'password'> & FromClient & { hasAccount: boolean }) {
      const invitation = await invitations.open(proof)
      if (!invitation) throw goneLink()
      const { email } = invitation
      const { name, password, address, hasAccount } = given
      const account = hasAccount
        ? signedIn(await signIn({ email, password, address }))
        : await accountFor(check({ name, email, password }), address)
      await inTransaction(database, async (sql) => invitations.join(sql, invitation, await account(sql)))
    },

    /** Returns the account of a subject of the issuer. */
    find: (id: string) => findAccount(database, id),
  }

  /**
   * Returns a function that creates the person's account and returns its id. Throws 400 if another
   * account has the same address and password. The password counts as an attempt to sign in,
   * because the result reveals whether it is right.
   */
  async function accountFor(person: NewPerson, address: string): Promise<(sql: Sql) => Promise<string>> {
    const { email, password } = person
    const known = await signIn({ email, password, address }).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'unauthorized') return undefined
      throw error
    })
    // An account whose password is easy to guess may belong to somebody else.
    if (known !== undefined) {
      throw new AppError('invalid', 'This password cannot be used. Choose another one, or use your account.')
    }
    // A network in which many people join must not wait. Guesses count for the address.
    await returnAttempt(database, clientSubject(address))
    const [like] = await findPasswords(database, email)
    const hashed = await inTurnOfClient(address, () => hashPassword(password, like))
    return (sql) => insert(sql, person, hashed)
  }

  async function insert(sql: Sql, { name, email }: NewPerson, password: PasswordRow): Promise<string> {
    const id = newRandomId()
    const [first = '', ...others] = name.split(' ')
    const account = {
      id,
      issuer: ownAccounts,
      subject: id,
      name,
      email,
      first_name: first,
      last_name: others.join(' '),
    }
    await insertAccount(sql, account, clock.now())
    await savePassword(sql, id, password, clock.now())
    return id
  }
}

function check({ name, email, password }: NewPerson): NewPerson {
  const address = email.trim()
  if (!mailAddress.test(address)) throw new AppError('invalid', 'email is not an email address.')
  return { name: checkName('name', name), email: address, password: checkPassword('password', password) }
}

const signedIn = (id: string) => async (): Promise<string> => id

const goneLink = (): AppError => new AppError('notFound', 'This link is invalid, expired or already used.')
