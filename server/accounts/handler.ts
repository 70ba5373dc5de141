import type { IncomingMessage, ServerResponse } from 'node:http'
import type Provider from 'oidc-provider'
import { AppError } from '../lib/error.ts'
import { applicationsPath } from './application-tokens.ts'
import type { ApplicationDoor } from './applications.ts'
import { applicationsClient } from './client-store.ts'
import { readForm } from './form.ts'
import { issuerPath, outsidePath, signInPath } from './issuer.ts'
import type { NewAccounts } from './new-accounts.ts'
import type { OutsideSignIn } from './outside-sign-in.ts'
import {
  accountReadyPage,
  consentPage,
  firstAccountPage,
  joinPage,
  joinWithAccount,
  messagePage,
  type Page,
  pagePolicy,
  signInPage,
  writePage,
} from './pages.ts'
import { type Refusal, refusalOf } from './refusal.ts'
import type { Attempt } from './sign-in.ts'

export interface AccountsHandlerOptions {
  readonly publicUrl: string
  readonly provider: () => Promise<Provider>
  readonly newAccounts: NewAccounts
  readonly signIn: (attempt: Attempt) => Promise<string>
  readonly outside: OutsideSignIn
  readonly applications: ApplicationDoor
}

/** One request of a browser or of a program that signs in. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The address of the client, for limits. */
  readonly address: string
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
  const { publicUrl, provider, newAccounts, signIn, outside, applications } = options
  const { protocol, host } = new URL(publicUrl)

  return async (exchange: Exchange): Promise<void> => {
    const { request, response } = exchange
    const path = request.url?.split('?')[0] ?? ''
    // Forwarded headers of proxies are ignored here: the public URL says the address.
    request.headers['x-forwarded-proto'] = protocol.slice(0, -1)
    request.headers['x-forwarded-host'] = host
    setPageHeaders(response)
    if (path.startsWith(setupPath)) return firstAccount(exchange, path.slice(setupPath.length))
    if (path.startsWith(joinPath)) return join(exchange, path.slice(joinPath.length))
    if (path === outsidePath) return comeBack(exchange)
    const issuer = await provider()
    if (path.startsWith(signInPath)) return interact(exchange, issuer)
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

  /**
   * Shows the sign-in form of one request of a client. The browser's cookie belongs to that
   * request.
   */
  async function interact({ request, response, address }: Exchange, issuer: Provider): Promise<void> {
    const details = await issuer.interactionDetails(request, response).catch(() => undefined)
    const [, uid, way] = signInForm.exec(request.url ?? '') ?? []
    if (!details || uid !== details.uid) return gone(response)
    const { client_id, redirect_uri, state } = details.params
    const client = typeof client_id === 'string' ? await issuer.Client.find(client_id) : undefined
    const wanted = client_id === applicationsClient ? await applications.nameOf(state) : undefined
    const name = wanted ?? client?.clientName ?? String(client_id)
    const leadsTo = typeof redirect_uri === 'string' ? [URL.parse(redirect_uri)?.origin ?? ''] : []
    const isPost = request.method === 'POST'
    if (details.prompt.name === 'consent') {
      // A device code was confirmed already. Otherwise the page asks, because another program on
      // this machine could start a request unnoticed.
      if (!isPost && !details.deviceCode) return send(response, 200, consentPage(name), leadsTo)
      return issuer.interactionFinished(request, response, { consent: {} }, { mergeWithLastSubmission: true })
    }
    const links = outside.names.map((one, index) => ({ name: one, url: `${signInPath}${uid}/${index}` }))
    if (way === undefined && !isPost) return send(response, 200, signInPage(name, { outside: links }), leadsTo)
    const step = isPost
      ? await byPassword({ ...(await readForm(request)), address })
      : await outside.step({ uid, index: Number(way) }, { query: queryOf(request), address })
    if ('location' in step) return redirect(response, step.location)
    if ('accountId' in step) return issuer.interactionFinished(request, response, { login: step })
    refuse(response, step, signInPage(name, { outside: links, ...step }), leadsTo)
  }

  async function byPassword({ email = '', password = '', address }: Partial<Attempt> & { readonly address: string }) {
    let accountId = ''
    const failure = await failureOf(async () => {
      accountId = await signIn({ email, password, address })
    })
    return failure ? { ...failure, email } : { accountId }
  }
}

/** The error for a page. The HTTP layer answers other errors. */
async function failureOf(work: () => Promise<void>): Promise<Refusal | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return refusalOf(error)
  }
}

/** The sign-in page of one request of a client, and a way to an outside issuer below it. */
const signInForm = /^\/oidc\/sign-in\/([\w-]+)(?:\/(\d{1,2})(?:\?.*)?)?$/
const queryOf = ({ url = '' }: IncomingMessage): string => url.split('?').slice(1).join('?')

function redirect(response: ServerResponse, location: string): void {
  response.statusCode = 303
  response.setHeader('location', location)
  response.end()
}

const gone = (response: ServerResponse): void =>
  send(response, 404, messagePage('Page not found', 'This link is invalid, expired or already used.'))

function setPageHeaders(response: ServerResponse): void {
  response.setHeader('cache-control', 'no-store')
  response.setHeader('content-security-policy', pagePolicy())
  response.setHeader('cross-origin-opener-policy', 'same-origin')
  response.setHeader('referrer-policy', 'no-referrer')
  response.setHeader('x-content-type-options', 'nosniff')
}

function send(response: ServerResponse, status: number, page: Page, forms: readonly string[] = []): void {
  response.statusCode = status
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.setHeader('content-security-policy', pagePolicy(forms))
  response.end(writePage(page))
}

/** Sends a page that says why something is refused. */
function refuse(response: ServerResponse, refusal: Refusal, page: Page, forms?: readonly string[]): void {
  const { status, retryAfterSeconds } = refusal
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds)
  send(response, status, page, forms)
}
