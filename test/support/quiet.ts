import type { Page, Request } from 'playwright-core'
import { until } from './until.ts'

/** Waits until a page shows its heading and has the answers to all its requests. */
export interface QuietPage {
  /** Opens an address and waits. Returns the heading. */
  open(url: string): Promise<string>
  /** Waits until nothing is asked. */
  settle(): Promise<void>
}

/** Streams never end. */
const isStream = (request: Request): boolean => new URL(request.url()).pathname.endsWith('/stream')

/** Watches the requests of a page from now on. */
export function quietPage(page: Page): QuietPage {
  const open = new Set<Request>()
  page.on('request', (request) => void (isStream(request) || open.add(request)))
  page.on('requestfinished', (request) => void open.delete(request))
  page.on('requestfailed', (request) => void open.delete(request))
  const drawn = (): Promise<unknown> =>
    page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  const settle = async (): Promise<void> => {
    await until('the page has its answers', async () => {
      if (open.size > 0) return undefined
      await drawn()
      return open.size === 0 || undefined
    })
  }
  return {
    settle,
    open: async (url) => {
      await page.goto(url)
      const heading = page.getByRole('heading', { level: 1 })
      await heading.waitFor()
      await settle()
      return heading.innerText()
    },
  }
}
