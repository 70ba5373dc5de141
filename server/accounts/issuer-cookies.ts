import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { KoaContextWithOIDC } from 'oidc-provider'
import { cookiesOf, pairsOf } from './cookies-of.ts'
import { interactionSeconds } from './issuer.ts'

export interface IssuerCookiesOptions {
  readonly publicUrl: string
  readonly pepper: Buffer
}
export type IssuerCookies = ReturnType<typeof createIssuerCookies>

/** The cookies of the library that name an interaction. Any host of the domain could set them. */
const libraryNames = { interaction: '_interaction', resume: '_interaction_resume' } as const
const isLibraryCookie = (pair: string): boolean => /^_interaction(?:_resume)?(?:\.sig)?(?:=|$)/.test(pair)
/** The pages of an interaction: its form, and its continuation at the issuer. */
const interactionPage = /^\/oidc\/(?:sign-in|authorize|device)\/([\w-]{10,60})(?:\/\d{1,2})?$/
/** A browser has so many sign-ins in progress. Older ones are forgotten. */
const mostSignIns = 12

/**
 * The cookies of the issuer. Applications are below the same domain as the platform, so they can
 * set cookies for it. A browser accepts a name with `__Host-` from this host alone, which needs
 * HTTPS. The library binds an interaction to a browser by cookies with a path, which exclude that
 * prefix. So an interaction has a cookie of ours, which follows from its id. The library sees its
 * own cookies only if ours is valid, and never those of the browser.
 */
export function createIssuerCookies({ publicUrl, pepper }: IssuerCookiesOptions) {
  const isSecure = publicUrl.startsWith('https:')
  const start = `${isSecure ? '__Host-' : ''}quayside-sign-in-`
  const secretOf = (purpose: string, uid: string): string =>
    createHmac('sha256', pepper).update(`interaction\n${purpose}\n${uid}`).digest('base64url')

  return {
    names: { session: isSecure ? '__Host-quayside-session' : '_session', ...libraryNames },

    /** Binds an interaction to the browser that began it. */
    bind(ctx: Pick<KoaContextWithOIDC, 'req' | 'cookies'>, uid: string): void {
      const options = { path: '/', httpOnly: true, sameSite: 'lax', signed: false } as const
      // Browsers send the oldest cookie first.
      const old = pairsOf(ctx.req.headers.cookie).filter((pair) => pair.startsWith(start))
      for (const pair of old.slice(0, Math.max(0, old.length + 1 - mostSignIns))) {
        ctx.cookies.set(pair.split('=', 1)[0] ?? '', null, options)
      }
      ctx.cookies.set(start + uid, secretOf('browser', uid), { ...options, maxAge: interactionSeconds * 1000 })
    },

    /** Shows the library the interaction of a page if this browser began it, and no other one. */
    admit(request: IncomingMessage): void {
      const { cookie } = request.headers
      const [, uid] = interactionPage.exec(request.url?.split('?')[0] ?? '') ?? []
      const kept = pairsOf(cookie).filter((pair) => !isLibraryCookie(pair))
      const secret = secretOf('browser', uid ?? '')
      if (uid !== undefined && cookiesOf(cookie, start + uid).some((given) => areEqual(given, secret))) {
        kept.push(...Object.values(libraryNames).map((name) => `${name}=${uid}`))
      }
      if (kept.length > 0) request.headers.cookie = kept.join('; ')
      else delete request.headers.cookie
    },

    /** Removes the library's cookies of interactions from an answer. */
    withhold({ response }: Pick<KoaContextWithOIDC, 'response'>): void {
      const all = [response.headers['set-cookie'] ?? []].flat()
      const kept = all.filter((cookie) => !isLibraryCookie(String(cookie)))
      if (kept.length === all.length) return
      response.remove('set-cookie')
      if (kept.length > 0) response.set('set-cookie', kept.map(String))
    },

    /** The token that the form of an interaction sends. Only that page shows it. */
    formToken: (uid: string): string => secretOf('form', uid),
    isFormToken: (uid: string, given: string): boolean => areEqual(given, secretOf('form', uid)),
  }
}

function areEqual(given: string, secret: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(secret)]
  return one.length === other.length && timingSafeEqual(one, other)
}
