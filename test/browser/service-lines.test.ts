import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import type { Tree } from '../support/git-remote.ts'
import { gone } from '../support/gone.ts'
import { get } from '../support/traffic.ts'
import { until } from '../support/until.ts'

/** Prints a few lines, and 10,000 lines a second while somebody has asked for it at /start. */
const talking = (): Tree => ({
  Dockerfile: ['FROM quayside/node:24', 'WORKDIR /app', 'COPY . ./', 'CMD ["node", "app.js"]', ''].join('\n'),
  'app.js': `
    let timer, count = 0
    const print = () => {
      let text = ''
      for (let line = 0; line < 200; line++) text += 'INFO line ' + ++count + ' of a busy program\\n'
      process.stdout.write(text)
    }
    require('node:http').createServer((request, response) => {
      if (request.url === '/start') timer ??= setInterval(print, 20)
      if (request.url === '/stop') timer = clearInterval(timer)
      response.end(String(count))
    }).listen(8080)
    console.log('INFO ready\\nWARN disk is filling')
    console.log('\\u001b[31mERROR needle <img src=x onerror=alert(1)>\\u001b[0m\\u0007')
    process.on('SIGTERM', () => process.exit(0))`,
})

/** The greatest and the middle pause between two drawn frames, and the tasks of more than 50 ms. */
interface Pace {
  readonly longest: number
  readonly middle: number
  readonly tasks: number
}

describe('the lines of a service in the console', { skip: noBrowser ?? false }, () => {
  let session: TestConsole
  let shop: TestApplication
  let address = ''

  before(async () => {
    session = await openConsole()
    const environmentId = await makeEnvironment(session.server, 'staging')
    shop = await makeApplication(session.server, { environmentId, name: 'shop' })
    await shop.run(talking())
    address = `${session.home}/environments/${environmentId}/application/${shop.id}`
  })
  after(async () => {
    await shop?.git.remove()
    await session?.close()
  })

  const log = () => session.page.getByRole('region', { name: 'Lines of the service' })
  const rows = () => log().getByRole('listitem')
  const press = (name: string | RegExp) => session.page.getByRole('button', { name, exact: true }).click()

  it('shows lines with their colours, and never as markup', async () => {
    const { page } = session
    await page.goto(address)
    await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Lines' }).click()
    // The overview shows the last lines, too.
    await page.getByLabel('Search in the lines').waitFor()
    const line = rows().filter({ hasText: 'needle <img src=x onerror=alert(1)>‹07›' })
    await line.waitFor()
    assert.equal(await line.locator('[data-colour="red"]').count(), 1)
    assert.equal(await line.getAttribute('data-level'), 'error')
    assert.equal(await log().locator('img').count(), 0)
    assert.deepEqual(await violations(page), [])
  })

  it('chooses lines by text, by level, and in all that the server stores', async () => {
    const { page } = session
    await page.getByLabel('Search in the lines').fill('NEEDLE')
    await until('one line is left', async () => (await rows().count()) === 1)
    assert.equal(await log().locator('mark').textContent(), 'needle')
    await page.getByText('of them shown').waitFor()
    await press('Search all')
    await page.waitForURL(/text=NEEDLE/)
    await page.getByText('1 line', { exact: true }).waitFor()
    await page.getByLabel('Search in the lines').fill('')
    await press('Search all')
    await rows().filter({ hasText: 'INFO ready' }).waitFor()
    await page.getByLabel('info').uncheck()
    await gone(rows().filter({ hasText: 'INFO ready' }))
    await rows().filter({ hasText: 'WARN disk' }).waitFor()
    await page.getByLabel('info').check()
  })

  it('saves the lines as a file without colours', async () => {
    const { page } = session
    const [download] = await Promise.all([page.waitForEvent('download'), press('Download')])
    const text = await readFile(await download.path(), 'utf8')
    assert.equal(download.suggestedFilename(), 'shop.log')
    assert.match(text, /^\d{4}-\S+Z \S+ WARN disk is filling$/m)
    assert.ok(!text.includes('\u001b'))
  })

  it('draws ten thousand lines a second, and keeps a bounded number of them', async (t) => {
    const { page } = session
    await page.evaluate(`(() => {
      const pauses = []
      let tasks = 0, last = performance.now()
      new PerformanceObserver((list) => void (tasks += list.getEntries().length)).observe({ type: 'longtask' })
      const frame = (now) => { pauses.push(now - last); last = now; requestAnimationFrame(frame) }
      requestAnimationFrame(frame)
      globalThis.pace = () => {
        const sorted = pauses.splice(0).sort((a, b) => a - b)
        return { longest: Math.round(sorted.at(-1)), middle: Math.round(sorted[sorted.length >> 1]), tasks }
      }
    })()`)
    const pace = async () => (await page.evaluate('globalThis.pace()')) as Pace
    await pace()
    await get(`${shop.url}/start`)
    const begin = performance.now()
    const numberOf = async () => Number(/line (\d+) of/.exec((await rows().last().textContent()) ?? '')?.[1] ?? 0)
    await until('fifty thousand lines were drawn', async () => (await numberOf()) > 60_000, { limitMs: 120_000 })
    const seconds = (performance.now() - begin) / 1000
    const [shown, { longest, middle, tasks }] = [await rows().count(), await pace()]
    t.diagnostic(`${Math.round(60_000 / seconds)} lines a second were drawn`)
    t.diagnostic(`pause between frames: middle ${middle} ms, longest ${longest} ms; tasks over 50 ms: ${tasks}`)
    assert.ok(shown < 150, `${shown} rows`)
    await page.getByText(/^50,000 lines/).waitFor()
  })

  it('waits while somebody reads, and counts the new lines', async () => {
    const { page } = session
    await log().hover()
    await page.mouse.wheel(0, -2_000)
    await page.getByText('Paused.').waitFor()
    const top = await rows().first().textContent()
    await page.getByRole('button', { name: /^Show [\d,]+ new lines$/ }).waitFor()
    assert.equal(await rows().first().textContent(), top)
    assert.deepEqual(await violations(page), [])
    await get(`${shop.url}/stop`)
    await press(/^Show [\d,]+ new lines$/)
    await gone(page.getByText('Paused.'))
    const { body: count } = await shop.answer()
    await rows()
      .filter({ hasText: `line ${count} of` })
      .waitFor()
  })

  it('opens a line by its address', async () => {
    const { page } = session
    const last = rows().last()
    const text = await last.textContent()
    await last.getByRole('link').click()
    await press('Copy the link')
    await page.getByText('Copied.').waitFor()
    const link = String(await page.evaluate('navigator.clipboard.readText()'))
    assert.match(link, /\/lines\?line=\d+-[0-9a-f]+$/)
    await page.goto(link)
    await page.getByText('These are the lines until').waitFor()
    const chosen = log().locator('[data-chosen]')
    await chosen.waitFor()
    assert.equal(await chosen.textContent(), text)
    assert.deepEqual(await violations(page), [])
    await press('Newest lines')
    await gone(page.getByText('These are the lines until'))
    await page.goto(`${address}/lines?line=1-abc`)
    await page.getByText('This line is no longer stored.').waitFor()
    assert.deepEqual(session.objections, [])
  })
})
