import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { AddressGuard } from '../lib/address.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import type { Secret } from '../lib/secret.ts'
import { targetProblem } from '../lib/target.ts'
import { checkName } from '../lib/text.ts'
import type { Vault } from '../vault/index.ts'
import {
  deleteGitToken,
  findGitToken,
  type GitProvider,
  type GitTokenRow,
  insertGitToken,
  listGitTokens,
  lockGitToken,
  updateGitToken,
} from './git-token-store.ts'
import { nameTaken } from './name-taken.ts'

export interface GitTokenRequest {
  readonly name: string
  readonly description?: string | null
  readonly type: GitProvider
  readonly token?: string
  readonly workspace?: string | null
  readonly git_api_url?: string | null
}

/**
 * The addresses of the providers' hosted editions. A token's `git_api_url` names a self-hosted one.
 */
const publicAddresses: Record<GitProvider, string> = {
  BITBUCKET: 'https://bitbucket.org',
  GITHUB: 'https://github.com',
  GITLAB: 'https://gitlab.com',
}

export interface GitTokensOptions {
  readonly database: Database
  readonly vault: Vault
  readonly clock: Clock
  readonly guard: AddressGuard
}

export function createGitTokens({ database, vault, clock, guard }: GitTokensOptions) {
  const context = (row: string) => ({ table: 'git_token', row, column: 'sealed_token' })
  const existing = async (sql: Sql, organizationId: string, id: string): Promise<GitTokenRow> => {
    const row = await findGitToken(sql, organizationId, id)
    if (!row) throw notFound('git token', id)
    return row
  }
  return {
    async list(organizationId: string) {
      return (await listGitTokens(database, organizationId)).map(gitTokenRecord)
    },

    async get(organizationId: string, id: string) {
      return gitTokenRecord(await existing(database, organizationId, id))
    },

    async create(organizationId: string, body: GitTokenRequest & { readonly token: string }) {
      const values = checked(body, guard)
      const row = await inTransaction(database, async (sql) => {
        const id = newId()
        const sealed_token = await vault.seal(sql, organizationId, context(id), checkToken(body.token))
        await insertGitToken(sql, { ...values, id, organization_id: organizationId, sealed_token }, clock.now())
        return existing(sql, organizationId, id)
      }).catch(nameTaken('A git token', values.name))
      return gitTokenRecord(row)
    },

    async edit(organizationId: string, id: string, body: GitTokenRequest) {
      const values = checked(body, guard)
      const row = await inTransaction(database, async (sql) => {
        await lockGitToken(sql, organizationId, id)
        const before = await existing(sql, organizationId, id)
        if (!body.token) refuseOtherPlace(before, values)
        const sealed = body.token
          ? { sealed_token: await vault.seal(sql, organizationId, context(id), checkToken(body.token)) }
          : {}
        await updateGitToken(sql, id, { ...values, ...sealed }, clock.now())
        return existing(sql, organizationId, id)
      }).catch(nameTaken('A git token', values.name))
      return gitTokenRecord(row)
    },

    async remove(organizationId: string, id: string): Promise<void> {
      await inTransaction(database, async (sql) => {
        const row = await existing(sql, organizationId, id)
        if (row.associated_services_count > 0) {
          throw new AppError(
            'conflict',
            `Git token "${row.name}" is used by ${row.associated_services_count} services.`,
          )
        }
        await deleteGitToken(sql, id)
      })
    },

    /**
     * Returns the provider of a token for this repository. Throws 400 if the token is for another
     * origin.
     */
    async typeFor(sql: Sql, organizationId: string, id: string, url: string): Promise<GitProvider> {
      const row = await existing(sql, organizationId, id)
      if (isFor(row, url)) return row.type
      throw new AppError(
        'invalid',
        `git_repository.git_token_id: "${row.name}" is for another host, scheme or port than that of url.`,
      )
    },

    /**
     * Returns the credentials for a repository, only for the origin of the token. Undefined for
     * another one.
     */
    async credential(
      sql: Sql,
      organizationId: string,
      id: string,
      url: string,
    ): Promise<{ username: string; password: Secret; version: number } | undefined> {
      const row = await existing(sql, organizationId, id)
      if (!isFor(row, url)) return undefined
      const password = await vault.open(sql, organizationId, context(id), row.sealed_token)
      return { username: usernames[row.type](row), password, version: row.credential_version }
    },
  }
}

const originOf = (url: string): string | undefined => URL.parse(url)?.origin

/** Compares scheme, host and port: a token given for https must not be sent over plain http. */
const isFor = (row: GitTokenRow, url: string): boolean => {
  const origin = originOf(row.git_api_url)
  return origin !== undefined && origin === originOf(url)
}

/** Rejects a change of provider or address that would send the stored token to another place. */
function refuseOtherPlace(before: GitTokenRow, after: Pick<GitTokenRow, 'type' | 'git_api_url'>): void {
  if (before.type === after.type && isFor(before, after.git_api_url)) return
  throw new AppError(
    'invalid',
    'token must be sent again when type, or scheme, host or port of git_api_url change: it was stored for ' +
      `"${before.git_api_url}".`,
  )
}

/** The user name that each provider expects with a token. */
const usernames: Record<GitProvider, (row: GitTokenRow) => string> = {
  BITBUCKET: (row) => row.workspace ?? 'x-token-auth',
  GITHUB: () => 'x-access-token',
  GITLAB: () => 'oauth2',
}

function checkToken(token: string): string {
  if (!/^[\x21-\x7e]+$/.test(token)) throw new AppError('invalid', 'token must be printable text without spaces.')
  return token
}

function checked(body: GitTokenRequest, guard: AddressGuard) {
  if (body.type === 'BITBUCKET' && !body.workspace) {
    throw new AppError('invalid', 'workspace is required for BITBUCKET: repositories are found through it.')
  }
  const git_api_url = body.git_api_url || publicAddresses[body.type]
  const url = URL.parse(git_api_url)
  const problem = url ? targetProblem(guard, url) : 'The address is not a valid URL.'
  if (problem) throw new AppError('invalid', `git_api_url: ${problem}`)
  return {
    name: checkName('name', body.name),
    description: body.description ?? '',
    type: body.type,
    workspace: body.workspace ?? null,
    git_api_url,
  }
}

/** The row as the API returns it. The sealed value is not in the reply's schema. */
const gitTokenRecord = (row: GitTokenRow) => row
