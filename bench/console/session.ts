import type { BrowserContext, Page } from 'playwright-core'
import { noBrowser } from '../../test/support/chromium.ts'
import { openConsole, type TestConsole } from '../../test/support/console.ts'
import type { Benchmark, Figure, Session } from '../figure.ts'

const window = { width: 1200, height: 900 }
/** High enough never to reject a request of a benchmark. */
const limits = {
  QUAYSIDE_RATE_LIMIT: '1000000',
  QUAYSIDE_RATE_BURST: '1000000',
  QUAYSIDE_STREAMS_PER_CALLER: '1000',
  QUAYSIDE_STREAMS_PER_ORGANIZATION: '1000',
}

/**
 * Returns a measurement of the console in Chromium on loopback, signed in, in front of a whole
 * server. Without Chromium it prints the reason and has no figures.
 */
export const inChromium = (
  figures: readonly string[],
  measure: (console: TestConsole, session: Session) => Promise<Figure[]>,
): Benchmark => ({
  group: 'console',
  figures,
  async measure(session) {
    if (noBrowser) {
      session.say(`  not measured: ${noBrowser}`)
      return []
    }
    const opened = await openConsole(limits)
    session.ending.defer(() => opened.close())
    return measure(opened, session)
  },
})

/** Opens a window with the session of the owner and an empty cache. */
export const freshWindow = async ({ page, browser }: TestConsole): Promise<BrowserContext> =>
  browser.context({ storageState: await page.context().storageState(), viewport: window })

/** Runs a script of a promise in the page. Returns its number. */
export const numberOf = async (page: Page, script: string): Promise<number> => Number(await page.evaluate(script))

/** Runs a script of a promise in the page. Returns its list of numbers. */
export async function numbersOf(page: Page, script: string): Promise<readonly number[]> {
  const list: unknown = await page.evaluate(script)
  return Array.isArray(list) ? list.map(Number) : []
}
