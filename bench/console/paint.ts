import type { Page } from 'playwright-core'
import { systemClock as clock } from '../../server/lib/clock.ts'
import type { TestConsole } from '../../test/support/console.ts'
import { absolute, atMost, type Figure, type Session } from '../figure.ts'
import { median } from '../paired.ts'
import { freshWindow, numberOf } from './session.ts'

const rounds = 7

/** Notes the moment at which the heading of the page is drawn, in milliseconds since 1970. */
const watchHeading = `globalThis.drawn = new Promise((resolve) => {
  new MutationObserver((_, observer) => {
    if (!document.querySelector('h1')) return
    observer.disconnect()
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => resolve(performance.timeOrigin + performance.now())
      port2.postMessage(0)
    })
  }).observe(document, { childList: true, subtree: true })
})`

/** Returns the compressed bytes of the scripts that had arrived at that moment. */
const bytesBefore = `globalThis.drawn.then((drawn) => performance.getEntriesByType('resource')
  .filter(({ name, responseEnd }) => name.endsWith('.js') && performance.timeOrigin + responseEnd <= drawn)
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0))`

async function paint(page: Page, url: string): Promise<number> {
  const begun = clock.now().getTime()
  await page.goto(url)
  await page.getByRole('heading', { level: 1 }).waitFor()
  return (await numberOf(page, 'globalThis.drawn')) - begun
}

/**
 * Measures the first meaningful paint: from the request for the first page to its heading, which
 * is drawn with the projects. The person has a session of the issuer. `cold` has an empty cache.
 */
export async function measurePaint(ours: TestConsole, { say }: Session): Promise<Figure[]> {
  const [cold, warm, bytes]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    const context = await freshWindow(ours)
    await context.addInitScript(watchHeading)
    const page = await context.newPage()
    cold.push(await paint(page, ours.home))
    bytes.push(await numberOf(page, bytesBefore))
    warm.push(await paint(page, ours.home))
    await context.close()
  }
  const rounded = (list: readonly number[]) => list.map(Math.round).join(', ')
  say(`  cold ${rounded(cold)} ms; warm ${rounded(warm)} ms`)
  return [
    absolute('console-paint-cold', median(cold), 'ms', atMost(1_000)),
    absolute('console-paint-warm', median(warm), 'ms', atMost(300)),
    absolute('console-bytes', Math.max(...bytes) / 1_000, 'kB', atMost(200)),
  ]
}
