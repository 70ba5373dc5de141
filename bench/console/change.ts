import { systemClock as clock } from '../../server/lib/clock.ts'
import { makeApplication, makeEnvironment } from '../../test/support/application.ts'
import type { TestConsole } from '../../test/support/console.ts'
import { quietPage } from '../../test/support/quiet.ts'
import { web } from '../../test/support/trees.ts'
import { absolute, atMost, type Figure, type Session } from '../figure.ts'
import { median, quantile } from '../paired.ts'
import { numberOf } from './session.ts'

const rounds = 10

/** Notes when the row of the service has another text, in milliseconds since 1970. */
const watchRow = `globalThis.changed = new Promise((resolve) => {
  const row = () => document.querySelector('main tr:has(a[href*="/application/"])')?.textContent
  const before = row()
  new MutationObserver((_, observer) => {
    if (row() === before) return
    observer.disconnect()
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => resolve(performance.timeOrigin + performance.now())
      port2.postMessage(0)
    })
  }).observe(document.body, { childList: true, subtree: true, characterData: true })
}); undefined`

/**
 * Measures the time from the request that stops or deploys a service, which the server accepts at
 * once, until its new state is on the page of another person. The request counts as well.
 */
export async function measureChange({ server, page, home }: TestConsole, { say }: Session): Promise<Figure> {
  const environmentId = await makeEnvironment(server, 'changing')
  const shop = await makeApplication(server, { environmentId, name: 'changing' })
  try {
    await shop.run(web('first'))
    const quiet = quietPage(page)
    await quiet.open(`${home}/environments/${environmentId}`)
    const times: number[] = []
    for (let round = 0; round < rounds; round++) {
      await quiet.settle()
      await page.evaluate(watchRow)
      const begun = clock.now().getTime()
      await server.must('POST', `/application/${shop.id}/${round % 2 === 0 ? 'stop' : 'deploy'}`, {})
      times.push((await numberOf(page, 'globalThis.changed')) - begun)
      await shop.settles()
    }
    say(`  a change is seen after ${median(times).toFixed(0)} ms (median)`)
    return absolute('console-change', quantile(times, 0.9), 'ms p90', atMost(200))
  } finally {
    await shop.git.remove()
  }
}
