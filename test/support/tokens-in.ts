import type { BrowserContext, Page } from 'playwright-core'

/** The tokens of a person's sign-in, as their browser receives and sends them. */
export interface WatchedTokens {
  /** Access, refresh and identity tokens that the issuer returned so far. */
  readonly tokens: ReadonlySet<string>
  /** Addresses and Referer headers of all requests. */
  readonly addresses: readonly string[]
  /** Lists the places outside of memory where one of the tokens is. */
  places(page: Page): Promise<readonly string[]>
}

/** Everything that a page keeps or shows, as JSON by place. */
const kept = `(async () => JSON.stringify({
  local: { ...localStorage },
  session: { ...sessionStorage },
  cookie: document.cookie,
  address: location.href,
  referrer: document.referrer,
  history: history.state,
  window: name,
  databases: await indexedDB.databases(),
  caches: await caches.keys(),
  document: document.documentElement.outerHTML,
  entries: performance.getEntries().map(({ name }) => name),
}))()`

/** Watches the answers of the issuer and all requests of a window from now on. */
export function watchTokens(context: BrowserContext): WatchedTokens {
  const tokens = new Set<string>()
  const addresses: string[] = []
  context.on('request', async (request) => {
    addresses.push(request.url(), (await request.allHeaders().catch(() => ({ referer: '' })))['referer'] ?? '')
  })
  context.on('response', async (response) => {
    if (!response.url().endsWith('/oidc/oauth/token')) return
    const answer: unknown = await response.json().catch(() => ({}))
    const { access_token, refresh_token, id_token } = Object(answer)
    for (const token of [access_token, refresh_token, id_token]) if (typeof token === 'string') tokens.add(token)
  })
  return {
    tokens,
    addresses,
    places: async (page) => {
      const own = Object.entries<unknown>(JSON.parse(String(await page.evaluate(kept))))
      const cookies = (await context.cookies()).map(({ name, value }) => [`cookie ${name}`, value])
      const all = [...own, ...cookies, ...addresses.map((text) => ['request', text])]
      return all.flatMap(([place, value]) => {
        const text = JSON.stringify(value)
        return [...tokens].some((token) => text.includes(token)) ? [String(place)] : []
      })
    },
  }
}
