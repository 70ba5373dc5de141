import type { ClientMetadata } from 'oidc-provider'
import type { Sql } from '../database/index.ts'
import { accountClient } from './sign-in-address.ts'

interface ClientRow {
  readonly id: string
  readonly name: string
  readonly redirect_uris: string[]
  readonly grant_types: string[]
}

/** The client through which people sign in to applications. */
export const applicationsClient = 'quayside-applications'
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

/**
 * Programs that people sign in to. They are public clients, because none of them can keep a secret.
 */
export async function findClient(sql: Sql, id: string): Promise<ClientMetadata | undefined> {
  const [row] = await sql<ClientRow[]>`select id, name, redirect_uris, grant_types from issuer_client where id = ${id}`
  if (!row) return undefined
  const isNative = row.grant_types.includes(deviceGrant)
  return {
    client_id: row.id,
    client_name: row.name,
    redirect_uris: row.redirect_uris,
    post_logout_redirect_uris: row.redirect_uris,
    grant_types: row.grant_types,
    response_types: row.redirect_uris.length > 0 ? ['code'] : [],
    token_endpoint_auth_method: 'none',
    application_type: isNative ? 'native' : 'web',
  }
}

/**
 * The clients of every installation: a console in the browser, a command line, and the applications
 * behind the sign-in.
 */
export async function saveOwnClients(sql: Sql, urls: OwnUrls, now: Date): Promise<void> {
  const clients = [
    {
      id: 'quayside-console',
      name: 'Console',
      redirect_uris: [`${urls.publicUrl}/login/auth0-callback`],
      grant_types: ['authorization_code', 'refresh_token'],
    },
    {
      id: 'quayside-cli',
      name: 'Command line',
      redirect_uris: ['http://127.0.0.1/authorization', 'http://localhost/authorization'],
      grant_types: ['authorization_code', 'refresh_token', deviceGrant],
    },
    {
      id: applicationsClient,
      name: 'Applications',
      redirect_uris: [urls.applications],
      grant_types: ['authorization_code'],
    },
    {
      id: accountClient,
      name: 'your account',
      redirect_uris: [urls.account],
      grant_types: ['authorization_code'],
    },
  ]
  await sql`insert into issuer_client ${sql(clients.map((client) => ({ ...client, created_at: now })))}
    on conflict (id) do update set redirect_uris = excluded.redirect_uris, grant_types = excluded.grant_types`
}

interface OwnUrls {
  readonly publicUrl: string
  /** Where people come back who signed in to an application. */
  readonly applications: string
  /** The page of a person's account. */
  readonly account: string
}
