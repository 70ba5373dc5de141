import type Provider from 'oidc-provider'
import { AppError } from '../lib/error.ts'
import { applicationsPath } from './application-tokens.ts'
import { readForm } from './form.ts'
import { createInteraction, type InteractionOptions } from './interaction.ts'
import { accountPath, issuerPath, outsidePath, signInPath } from './issuer.ts'
import type { NewAccounts } from './new-accounts.ts'
import type { createOwnAccount } from './own-account.ts'
import { accountReadyPage, firstAccountPage, joinPage, joinWithAccount } from './pages.ts'
import { failureOf } from './refusal.ts'
import { type Exchange, gone, queryOf, redirect, refuse, send, setPageHeaders } from './send-page.ts'

export interface AccountsHandlerOptions extends InteractionOptions {
  readonly publicUrl: string
  readonly provider: () => Promise<Provider>
  readonly newAccounts: NewAccounts
  readonly ownAccount: ReturnType<typeof createOwnAccount>
}

/** Returns a path without the secret of a link, for the log. */
export const withoutLink = (path: string): string => path.replace(/^(\/(?:setup|join)\/).*/, '$1…')

/** Whether `handle` answers the path. It also answers everything below `issuerPath`. */
export const setupPath = '/setup/'
export const joinPath = '/join/'

/**
 * Answers every page of accounts and every request to the issuer. Rejects with errors that the HTTP
 * layer answers.
 */
export function createAccountsHandler(options: AccountsHandlerOptions) {
  const { publicUrl, provider, newAccounts, ownAccount, outside, applications, cookies } = options
  const interact = createInteraction(options)
  const { protocol, host } = new URL(publicUrl)

  return async (exchange: Exchange): Promise<void> => {
    const { request, response } = exchange
    const path = request.url?.split('?')[0] ?? ''
    // Forwarded headers of proxies are ignored here: the public URL says the address.
    request.headers['x-forwarded-proto'] = protocol.slice(0, -1)
    request.headers['x-forwarded-host'] = host
    cookies.admit(request)
    setPageHeaders(response)
    if (path.startsWith(setupPath)) return firstAccount(exchange, path.slice(setupPath.length))
    if (path.startsWith(joinPath)) return join(exchange, path.slice(joinPath.length))
    if (path === outsidePath) return comeBack(exchange)
    const issuer = await provider()
    if (path.startsWith(signInPath)) return interact(exchange, issuer)
    if (path === accountPath) return ownAccount(exchange, issuer)
    if (path === applicationsPath || path.startsWith(`${applicationsPath}/`)) return enter(exchange, issuer)
    const { url = '' } = request
    Object.assign(request, { originalUrl: url, url: url.slice(issuerPath.length - 1) })
    response.removeHeader('content-security-policy')
    return issuer.callback()(request, response)
  }

  async function firstAccount({ request, response, address }: Exchange, token: string): Promise<void> {
    if (!(await newAccounts.isFirstAccountLink(token))) return gone(response)
    if (request.method !== 'POST') return send(response, 200, firstAccountPage())
    const { name = '', email = '', password = '' } = await readForm(request)
    const failure = await failureOf(() => newAccounts.makeFirst(token, { name, email, password, address }))
    if (failure) return refuse(response, failure, firstAccountPage(failure.problem, { name, email }))
    send(response, 200, accountReadyPage('Account created', 'The account is ready.', publicUrl))
  }

  async function join({ request, response, address }: Exchange, proof: string): Promise<void> {
    const invitation = await newAccounts.openInvitation(proof)
    if (!invitation) return gone(response)
    const hasAccount = queryOf(request) === joinWithAccount
    if (request.method !== 'POST') return send(response, 200, joinPage(invitation, { hasAccount }))
    const { name = '', password = '' } = await readForm(request)
    const failure = await failureOf(() => newAccounts.join(proof, { name, password, address, hasAccount }))
    if (failure) return refuse(response, failure, joinPage(invitation, { hasAccount, problem: failure.problem, name }))
    const message = `You are a member of ${invitation.organization}.`
    send(response, 200, accountReadyPage('Welcome', message, publicUrl))
  }

  async function enter({ request, response }: Exchange, issuer: Provider): Promise<void> {
    if (request.method !== 'GET') throw new AppError('methodNotAllowed', 'Open this address in a browser.')
    const answer = await applications.answer(issuer, request, response)
    if ('page' in answer) return send(response, answer.status, answer.page)
    redirect(response, answer.location)
  }

  /** Sends a browser from an outside issuer to the sign-in that it began. */
  function comeBack({ request, response }: Exchange): void {
    const location = request.method === 'GET' ? outside.backAt(queryOf(request)) : undefined
    if (location === undefined) gone(response)
    else redirect(response, location)
  }
}
