import type { Page } from 'playwright-core'
import { makeEnvironment } from '../../test/support/application.ts'
import type { TestConsole } from '../../test/support/console.ts'
import { absolute, atMost, type Figure, type Session } from '../figure.ts'
import { median, quantile } from '../paired.ts'
import { numberOf } from './session.ts'

const rounds = 9

/** Something to click, the selector of what it shows, and how to return. */
interface Click {
  readonly role: 'button' | 'link'
  readonly name: string | RegExp
  readonly shows: string
  readonly back: (page: Page) => Promise<unknown>
}

const closeDialog = async (page: Page): Promise<void> => {
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}
const goBack = async (page: Page): Promise<void> => {
  await page.goBack()
  await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor()
}

const clicks: readonly Click[] = [
  { role: 'button', name: 'New project', shows: '[role="dialog"]', back: closeDialog },
  { role: 'button', name: /^Search/, shows: '[role="dialog"] [role="option"]', back: closeDialog },
  { role: 'link', name: 'clicked', shows: 'main h1', back: goBack },
  { role: 'link', name: 'Settings', shows: 'main h1', back: goBack },
]

/** Resolves with the milliseconds from the click until its answer is drawn. */
const watch = (selector: string): string => `globalThis.answered = new Promise((resolve) => {
  const old = new Set(document.querySelectorAll(${JSON.stringify(selector)}))
  let from = 0
  addEventListener('click', () => { from = performance.now() }, { capture: true, once: true })
  new MutationObserver((_, observer) => {
    const shown = [...document.querySelectorAll(${JSON.stringify(selector)})].some((one) => !old.has(one))
    if (!shown) return
    observer.disconnect()
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => resolve(performance.now() - from)
      port2.postMessage(0)
    })
  }).observe(document.body, { childList: true, subtree: true })
}); undefined`

async function time(page: Page, { role, name, shows, back }: Click): Promise<number> {
  await page.evaluate(watch(shows))
  await page.getByRole(role, { name }).first().click()
  const ms = await numberOf(page, 'globalThis.answered')
  await back(page)
  return ms
}

/** Measures the time from a click to its dialog or page. The first visit counts as well. */
export async function measureClicks({ server, page, home }: TestConsole, { say }: Session): Promise<Figure> {
  await makeEnvironment(server, 'clicked')
  await page.goto(home)
  await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor()
  const all: number[] = []
  for (const click of clicks) {
    const times: number[] = []
    for (let round = 0; round < rounds; round++) times.push(await time(page, click))
    const shown = `${median(times).toFixed(0)} ms, at most ${Math.max(...times).toFixed(0)} ms`
    say(`  ${click.role} "${String(click.name)}": ${shown}`)
    all.push(...times)
  }
  return absolute('console-click', quantile(all, 0.9), 'ms p90', atMost(100))
}
