import { createHash } from 'node:crypto'
import { clientGroup } from '@quayside/contract/forwarded.ts'
import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { admitAttempt } from './attempts.ts'
import type { Device } from './devices.ts'
import { findPasswords, type OwnPassword } from './password-store.ts'
import { findRight, inTurnOfClient } from './passwords.ts'
import { type Counted, forgiveAttempt } from './sign-in-store.ts'

export interface Attempt {
  readonly email: string
  readonly password: string
  /** The address of the client. */
  readonly address: string
  /** The accounts that signed in before in this browser. */
  readonly devices?: readonly Device[]
}

/** Failures in a row before a wait, for each of these. */
const limits = { pair: 5, client: 20, account: 100, device: 5 } as const

/**
 * Signs a person in by address and password and returns the account's id. If several accounts have
 * the address, the password selects one. An unknown address and a wrong password get the same
 * message after the same time (401). Failures count for the address together with the client, for
 * the client, and with a higher limit for the address: 429 while there are too many. In a browser
 * in which one of the accounts signed in before, they count for that browser alone, so nobody else
 * keeps its person out. Attempts of one client are judged one after the other, so concurrent
 * attempts see each other's failures. A rejected attempt is neither counted nor hashed. `rightOf`
 * is the comparison, which is slow on purpose.
 */
export function createSignIn({
  database,
  clock,
  rightOf = findRight,
}: {
  database: Database
  clock: Clock
  rightOf?: typeof findRight
}) {
  /** Compares a password with some accounts, and counts the attempt. */
  const compare = async (
    password: string,
    rows: readonly OwnPassword[],
    { counted, own, shared }: Counts,
  ): Promise<string | undefined> => {
    await admitAttempt({ database, clock }, counted)
    const row = await rightOf(password, rows)
    if (row) await forgiveAttempt(database, own, shared)
    return row?.account_id
  }
  const judge = async ({ email, password, address, devices = [] }: Attempt): Promise<string> => {
    const rows = await findPasswords(database, email.trim())
    const device = devices.find(({ account }) => rows.some((row) => row.account_id === account))
    const own = rows.filter((row) => row.account_id === device?.account)
    const others = rows.filter((row) => row.account_id !== device?.account)
    // A browser of one account is no place for free guesses at another one with the same address.
    const found = device && (await compare(password, own, countsOfDevice(device)))
    if (found !== undefined) return found
    const isDone = device !== undefined && others.length === 0
    const other = isDone ? undefined : await compare(password, others, countsOf(email, address))
    if (other !== undefined) return other
    throw new AppError('unauthorized', 'The email address or the password is wrong.')
  }
  return (attempt: Attempt): Promise<string> => inTurnOfClient(attempt.address, () => judge(attempt))
}

/** The subject that counts the attempts of a client. */
export const clientSubject = (address: string): string => `client ${clientGroup(address)}`

/** The counts of an attempt. A success resets `own` and takes back one attempt of `shared`. */
interface Counts {
  readonly counted: readonly Counted[]
  readonly own: string
  readonly shared: readonly string[]
}

function countsOf(email: string, address: string): Counts {
  const account = `account ${createHash('sha256').update(email.trim().toLowerCase()).digest('base64url')}`
  const client = clientSubject(address)
  const pair = `${account} ${client}`
  const counted = [
    { subject: pair, limit: limits.pair },
    { subject: client, limit: limits.client },
    { subject: account, limit: limits.account },
  ]
  return { counted, own: pair, shared: [client, account] }
}

function countsOfDevice({ id }: Device): Counts {
  const own = `device ${id}`
  return { counted: [{ subject: own, limit: limits.device }], own, shared: [] }
}
