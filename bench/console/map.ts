import type { Page } from 'playwright-core'
import { makeEnvironment } from '../../test/support/application.ts'
import type { TestConsole } from '../../test/support/console.ts'
import { quietPage } from '../../test/support/quiet.ts'
import { absolute, atLeast, type Figure, type Session } from '../figure.ts'
import { quantile } from '../paired.ts'
import { numbersOf } from './session.ts'

const services = 200
const seconds = 5
/** A screen draws 60 frames a second. Its clock is not exact. */
const goal = atLeast(59)

/** Moves the map like a wheel, 13 pixels a frame, and back after a second. */
export const pan = `(count) => {
  const way = count % 120 < 60 ? 1 : -1
  document.querySelector('.react-flow__pane').dispatchEvent(
    new WheelEvent('wheel', { deltaX: 12 * way, deltaY: 6 * way, bubbles: true, cancelable: true }))
}`

/** Scrolls the page, 40 pixels a frame, and back at its end. */
const scroll = `(count) => scrollBy(0, count % 200 < 100 ? 40 : -40)`

/** Resolves with the milliseconds between the drawn frames. */
export const frames = (step: string): string => `new Promise((resolve) => {
  const step = ${step}
  const times = []
  const begun = performance.now()
  let last = begun
  const frame = (now) => {
    times.push(now - last)
    last = now
    step(times.length)
    if (now - begun < ${seconds * 1_000}) requestAnimationFrame(frame)
    else resolve(times.slice(2))
  }
  requestAnimationFrame(frame)
})`

async function measureFrames(page: Page, { say }: Session, name: string, step: string): Promise<Figure> {
  const times = await numbersOf(page, frames(step))
  const rate = (times.length / times.reduce((sum, ms) => sum + ms, 0)) * 1_000
  say(`  ${name}: 99 % of the frames within ${quantile(times, 0.99).toFixed(0)} ms`)
  return absolute(name, rate, 'frames/s', goal)
}

/** Returns the environment of many services, each in a stage and with a line to another one. */
export async function makeServices({ server }: TestConsole): Promise<string> {
  const environment = await makeEnvironment(server, 'large')
  const { results: stages } = await server.must<{ results: { id: string }[] }>(
    'GET',
    `/environment/${environment}/deploymentStage`,
  )
  const git_repository = { url: `${server.apiUrl}/git/none.git`, branch: 'main' }
  let last = ''
  for (let number = 0; number < services; number++) {
    const body = { name: `service-${number}`, git_repository }
    const { id } = await server.must<{ id: string }>('POST', `/environment/${environment}/application`, body)
    const stage = stages[number % stages.length]
    if (stage) await server.must('PUT', `/deploymentStage/${stage.id}/service/${id}`, {})
    const host = `{{QOVERY_APPLICATION_Z${last.replaceAll('-', '').slice(0, 8).toUpperCase()}_HOST_INTERNAL}}`
    const variable = { key: 'PREVIOUS', value: host, is_secret: false, variable_parent_id: id }
    if (last) await server.must('POST', '/variable', { ...variable, variable_scope: 'APPLICATION' })
    last = id
  }
  return environment
}

/** Measures the frames while an environment of many services is panned as a map and scrolled. */
export async function measureMap(console: TestConsole, session: Session): Promise<Figure[]> {
  const { page, home } = console
  const address = `${home}/environments/${await makeServices(console)}`
  await quietPage(page).open(`${address}?view=map`)
  await page.locator('.react-flow__node').first().waitFor()
  const panned = await measureFrames(page, session, 'console-map', pan)
  await quietPage(page).open(address)
  return [panned, await measureFrames(page, session, 'console-scroll', scroll)]
}
