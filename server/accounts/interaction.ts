import type Provider from 'oidc-provider'
import type { Clock } from '../lib/clock.ts'
import type { ApplicationDoor } from './applications.ts'
import { applicationsClient } from './client-store.ts'
import type { Devices } from './devices.ts'
import { readForm } from './form.ts'
import { signInPath } from './issuer.ts'
import type { IssuerCookies } from './issuer-cookies.ts'
import type { OutsideSignIn } from './outside-sign-in.ts'
import { consentPage, leavingPage, signInPage } from './pages.ts'
import { failureOf, type Refusal } from './refusal.ts'
import { type Exchange, gone, queryOf, redirect, refuse, send } from './send-page.ts'
import type { Attempt } from './sign-in.ts'

export interface InteractionOptions {
  readonly signIn: (attempt: Attempt) => Promise<string>
  readonly outside: OutsideSignIn
  readonly applications: ApplicationDoor
  readonly cookies: IssuerCookies
  readonly devices: Devices
  readonly clock: Clock
}

type Details = Awaited<ReturnType<Provider['interactionDetails']>>
type Fields = Partial<Record<string, string>>

/** The sign-in page of one request of a client, and a way to an outside issuer below it. */
const signInForm = /^\/oidc\/sign-in\/([\w-]+)(?:\/(\d{1,2})(?:\?.*)?)?$/

/** A request to the pages of one interaction. */
interface Asked {
  readonly details: Details
  /** The position of an outside issuer. */
  readonly way: string | undefined
  /** The fields of its form, if it was sent. */
  readonly fields: Fields | undefined
  /** Whether the form was sent from elsewhere. */
  readonly isForged: boolean
  /** The name of the client. */
  readonly name: string
  /** The token of the form. */
  readonly token: string
  /** Further targets of the form. */
  readonly leadsTo: readonly string[]
}

const staleForm: Refusal = { status: 403, problem: 'The form was not sent from this page. Try again.' }

/** Shows the sign-in form of one request of a client, to the browser that began it. */
export function createInteraction(options: InteractionOptions) {
  const { signIn, outside, applications, cookies, devices, clock } = options

  async function clientName({ params: { client_id, state } }: Details, issuer: Provider): Promise<string> {
    const wanted = client_id === applicationsClient ? await applications.nameOf(state) : undefined
    if (wanted !== undefined) return wanted
    const client = typeof client_id === 'string' ? await issuer.Client.find(client_id) : undefined
    return client?.clientName ?? String(client_id)
  }

  async function byPassword({ request, response, address }: Exchange, { email = '', password = '' }: Fields) {
    const { cookie } = request.headers
    let accountId = ''
    const failure = await failureOf(async () => {
      accountId = await signIn({ email, password, address, devices: devices.of(cookie, clock.now()) })
    })
    if (failure) return { ...failure, email }
    response.appendHeader('set-cookie', devices.remember(cookie, accountId, clock.now()))
    return { accountId }
  }

  /**
   * Asks before a program gets a code, because another one on this machine could start a request.
   */
  function consent({ request, response }: Exchange, issuer: Provider, asked: Asked): Promise<void> | void {
    const { details, fields, isForged, name, token, leadsTo } = asked
    // A device code was confirmed already.
    const isConfirmed = fields === undefined ? details.deviceCode !== undefined : !isForged
    if (!isConfirmed) return send(response, isForged ? 403 : 200, consentPage(name, token), leadsTo)
    return issuer.interactionFinished(request, response, { consent: {} }, { mergeWithLastSubmission: true })
  }

  async function login(exchange: Exchange, issuer: Provider, asked: Asked): Promise<void> {
    const { request, response, address } = exchange
    const { details, fields, isForged, name, token, leadsTo, way } = asked
    const { uid } = details
    const page = `${signInPath}${uid}`
    const form = { token, page, outside: outside.names.map((one, index) => ({ name: one, url: `${page}/${index}` })) }
    if (isForged) return refuse(response, staleForm, signInPage(name, { ...form, ...staleForm }), leadsTo)
    const query = queryOf(request)
    // A sign-in elsewhere begins by the form alone. Any page could lead to an address.
    if (!fields && query === '') {
      return way === undefined ? send(response, 200, signInPage(name, form), leadsTo) : redirect(response, page)
    }
    const step =
      way === undefined
        ? await byPassword(exchange, fields ?? {})
        : await outside.step({ uid, index: Number(way) }, { query: fields ? '' : query, address })
    if ('location' in step) return send(response, 200, leavingPage(step.name, step.location))
    if ('accountId' in step) return issuer.interactionFinished(request, response, { login: step })
    refuse(response, step, signInPage(name, { ...form, ...step }), leadsTo)
  }

  return async (exchange: Exchange, issuer: Provider): Promise<void> => {
    const { request, response } = exchange
    const details = await issuer.interactionDetails(request, response).catch(() => undefined)
    const [, uid, way] = signInForm.exec(request.url ?? '') ?? []
    if (!details || uid !== details.uid) return gone(response)
    const { redirect_uri } = details.params
    const fields = request.method === 'POST' ? await readForm(request) : undefined
    const asked = {
      details,
      way,
      fields,
      isForged: fields !== undefined && !cookies.isFormToken(uid, fields['form'] ?? ''),
      name: await clientName(details, issuer),
      token: cookies.formToken(uid),
      leadsTo: typeof redirect_uri === 'string' ? [URL.parse(redirect_uri)?.origin ?? ''] : [],
    }
    return details.prompt.name === 'consent' ? consent(exchange, issuer, asked) : login(exchange, issuer, asked)
  }
}
