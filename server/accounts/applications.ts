import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isReturnPath, signInPath } from '@quayside/contract/sign-in.ts'
import type Provider from 'oidc-provider'
import type { AccountRow } from '../access/index.ts'
import type { Clock } from '../lib/clock.ts'
import { parseId } from '../lib/id.ts'
import { applicationsPath, createTokenSigner } from './application-tokens.ts'
import { applicationsClient } from './client-store.ts'
import { issuerOf } from './issuer.ts'
import { addressOf } from './outside-stay.ts'
import { continuePage, messagePage, notAdmittedPage, type Page } from './pages.ts'
import { signInAddress } from './sign-in-address.ts'

/** A service behind the sign-in, at one of its hosts. */
interface ApplicationPlace {
  readonly name: string
  /** Scheme, host and port. */
  readonly origin: string
  /** Who may enter, by the ids of their accounts. */
  readonly people: ReadonlyMap<string, { readonly role: string }>
}

/** Finds services behind the sign-in. Another room knows them. */
export interface Applications {
  find(at: {
    readonly service: string
    readonly host: string
    readonly isSecure: boolean
  }): Promise<ApplicationPlace | undefined>
}

export interface ApplicationDoorOptions {
  readonly publicUrl: string
  readonly pepper: Buffer
  readonly clock: Clock
  readonly applications: Applications
  /** Finds an account whose sign-in still counts. */
  readonly findAccount: (id: string) => Promise<AccountRow | undefined>
}

/** The question of a router, which a browser carries. Anybody could have written it. */
interface Question {
  readonly service: string
  readonly host: string
  readonly challenge: string
  readonly path: string
  readonly isSecure: boolean
}

/** The answer to a browser: a page, or another address. */
export type DoorAnswer = { readonly status: number; readonly page: Page } | { readonly location: string }

const backPath = `${applicationsPath}/signed-in`
/** Where the issuer sends a browser after a sign-in. */
export const applicationsRedirect = (publicUrl: string): string => `${publicUrl}${backPath}`

/**
 * Leads people into applications behind the platform's sign-in. A person who has a session at the
 * issuer sees no page. Others sign in first.
 */
export function createApplicationDoor(options: ApplicationDoorOptions) {
  const { publicUrl, clock, applications, findAccount } = options
  const sign = createTokenSigner(options.pepper)
  const wishOf = (state: string) => ({
    client: applicationsClient,
    redirectUri: applicationsRedirect(publicUrl),
    state,
  })

  async function answer(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<DoorAnswer> {
    const url = new URL(request.url ?? '/', publicUrl)
    const isBack = url.pathname === backPath
    if (!isBack && url.pathname !== applicationsPath) return unknown
    const text = isBack ? (url.searchParams.get('state') ?? '') : url.search.slice(1)
    const question = readQuestion(new URLSearchParams(text))
    const place = question && (await applications.find(question))
    if (!place) return unknown
    const session = await provider.Session.get(provider.createContext(request, response))
    const account = session.accountId === undefined ? undefined : await findAccount(session.accountId)
    if (!account) return isBack ? withoutSession : { location: signInAddress(publicUrl, wishOf(text)) }
    const person = place.people.get(account.id)
    if (!person) return refused(place, account)
    const { service, host, challenge, path } = question
    const token = sign({
      service,
      host,
      account: account.id,
      email: addressOf(account),
      role: person.role,
      challenge,
      path: createHash('sha256').update(path).digest('base64url'),
      issuedAtMs: clock.now().getTime(),
    })
    const location = `${place.origin}${signInPath}?${new URLSearchParams({ token, path })}`
    // A form led here. Its policy would forbid every further address that the application names.
    return isBack ? { status: 200, page: continuePage(place.name, location) } : { location }
  }

  return {
    answer,
    /** Returns the name of the application that a person wants to enter, for the sign-in page. */
    async nameOf(state: unknown): Promise<string | undefined> {
      const question = typeof state === 'string' ? readQuestion(new URLSearchParams(state)) : undefined
      return question && (await applications.find(question))?.name
    },
  }

  function refused({ name }: ApplicationPlace, account: AccountRow): DoorAnswer {
    return { status: 403, page: notAdmittedPage(name, addressOf(account), `${issuerOf(publicUrl)}v2/logout`) }
  }
}

export type ApplicationDoor = ReturnType<typeof createApplicationDoor>

const unknown: DoorAnswer = {
  status: 404,
  page: messagePage('Page not found', 'No application behind this sign-in answers at that address. Open it again.'),
}
const withoutSession: DoorAnswer = {
  status: 400,
  page: messagePage('That did not work', 'The browser sent no cookie. Allow cookies and open the application again.'),
}

function readQuestion(given: URLSearchParams): Question | undefined {
  const of = (name: string): string => given.get(name) ?? ''
  const service = parseId(of('service'))
  const [host, challenge, path] = [of('host'), of('challenge'), of('path')]
  if (service === undefined || !/^(?=.{1,253}$)[a-z0-9_.-]+$/.test(host) || !/^[\w-]{43}$/.test(challenge)) {
    return undefined
  }
  return { service, host, challenge, path: isReturnPath(path) ? path : '/', isSecure: of('secure') === '1' }
}
