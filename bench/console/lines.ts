import type { CDPSession, Page } from 'playwright-core'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../../test/support/application.ts'
import type { TestConsole } from '../../test/support/console.ts'
import type { Tree } from '../../test/support/git-remote.ts'
import { get } from '../../test/support/traffic.ts'
import { until } from '../../test/support/until.ts'
import { absolute, atLeast, atMost, type Figure, type Session } from '../figure.ts'
import { numberOf } from './session.ts'

const seconds = 60
/** The page keeps 50,000 lines. After this time it has dropped the first ones. */
const fullAfterSeconds = 15

/** Prints 10,000 lines a second from the moment at which somebody has asked for it. */
const talking: Tree = {
  Dockerfile: ['FROM quayside/node:24', 'WORKDIR /app', 'COPY . ./', 'CMD ["node", "app.js"]', ''].join('\n'),
  'app.js': `
    let timer, count = 0, begun
    const print = () => {
      const due = (Date.now() - begun) * 10
      let text = ''
      while (count < due) text += 'INFO line ' + ++count + ' of a busy program\\n'
      process.stdout.write(text)
    }
    require('node:http').createServer((request, response) => {
      if (request.url === '/start') begun ??= Date.now(), timer ??= setInterval(print, 20)
      response.end(String(count))
    }).listen(8080)
    process.on('SIGTERM', () => process.exit(0))`,
}

/**
 * Notes the longest frame: the longest time in which the page answered nothing, either between the
 * begin of a frame and its drawing, or in a task of its scripts.
 */
const watchFrames = `(() => {
  let longest = 0
  const note = (ms) => { longest = Math.max(longest, ms) }
  new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => note(duration)))
    .observe({ type: 'longtask' })
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = ({ data }) => note(performance.now() - data)
  const frame = (now) => {
    port2.postMessage(performance.now())
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
  globalThis.longestFrame = () => longest
})()`

/** Returns the memory of the page's objects in MB after its garbage was collected. */
async function heapMB(client: CDPSession): Promise<number> {
  await client.send('HeapProfiler.collectGarbage')
  const { usedSize } = await client.send('Runtime.getHeapUsage')
  return usedSize / 1e6
}

/** Returns the number of the newest line on the page. */
async function newestLine(page: Page): Promise<number> {
  const rows = page.getByRole('region', { name: 'Lines of the service' }).getByRole('listitem')
  return Number(/line (\d+) of/.exec((await rows.last().textContent()) ?? '')?.[1] ?? 0)
}

/** Measures the page of lines while a service prints 10,000 lines a second for a minute. */
export async function measureLines({ server, page, home }: TestConsole, session: Session): Promise<Figure[]> {
  const environmentId = await makeEnvironment(server, 'lines')
  const shop = await makeApplication(server, { environmentId, name: 'lines' })
  try {
    await shop.run(talking)
    await page.goto(`${home}/environments/${environmentId}/application/${shop.id}/lines`)
    await page.getByRole('heading', { name: 'lines', level: 1 }).waitFor()
    return await follow(page, shop, session)
  } finally {
    await shop.git.remove()
  }
}

async function follow(page: Page, shop: TestApplication, { say }: Session): Promise<Figure[]> {
  const client = await page.context().newCDPSession(page)
  await get(`${shop.url}/start`)
  const begun = clock.monotonic()
  await until('the page shows lines', async () => (await newestLine(page)) > 0)
  await clock.sleep(fullAfterSeconds * 1_000)
  const full = await heapMB(client)
  await page.evaluate(watchFrames)
  await clock.sleep(seconds * 1_000 - (clock.monotonic() - begun))
  const longest = await numberOf(page, 'globalThis.longestFrame()')
  const rate = (await newestLine(page)) / ((clock.monotonic() - begun) / 1_000)
  const end = await heapMB(client)
  say(`  the page uses ${full.toFixed(0)} MB once it is full, and ${end.toFixed(0)} MB at the end`)
  return [
    absolute('console-lines', longest, 'ms longest frame', atMost(50)),
    absolute('console-lines-rate', rate, 'lines/s', atLeast(9_500)),
    absolute('console-lines-memory', end - full, 'MB grown', atMost(10)),
  ]
}
