import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { web } from '../support/trees.ts'

interface Stages {
  readonly results: readonly { readonly id: string; readonly name: string }[]
}

const hostOf = (id: string): string =>
  `{{QOVERY_APPLICATION_Z${id.replaceAll('-', '').slice(0, 8).toUpperCase()}_HOST_INTERNAL}}`

const frames = 30

/** Runs it in the page, and returns the milliseconds that the page's scripts took meanwhile. */
async function measureScript(page: Page, script: string): Promise<number> {
  const client = await page.context().newCDPSession(page)
  await client.send('Performance.enable')
  const now = async (): Promise<number> => {
    const { metrics } = await client.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? Number.NaN) * 1000
  }
  const before = await now()
  await page.evaluate(script)
  return (await now()) - before
}

describe('the map of an environment', { skip: noBrowser ?? false }, () => {
  let session: TestConsole
  let shop: TestApplication
  let environmentId: string

  const setVariable = (key: string, value: string, scope: string, parent: string): Promise<unknown> =>
    session.server.must('POST', '/variable', {
      key,
      value,
      is_secret: false,
      variable_scope: scope,
      variable_parent_id: parent,
    })
  const makeService = async (environment: string, name: string): Promise<string> => {
    const git_repository = { url: shop.git.url, branch: 'main' }
    const body = { name, git_repository }
    return (await session.server.must<{ id: string }>('POST', `/environment/${environment}/application`, body)).id
  }

  before(async () => {
    session = await openConsole()
    environmentId = await makeEnvironment(session.server, 'staging')
    shop = await makeApplication(session.server, { environmentId, name: 'shop' })
    const cart = await makeService(environmentId, 'cart')
    await setVariable('CART_URL', `http://${hostOf(cart)}:8080`, 'APPLICATION', shop.id)
    await setVariable('SHOP_ADDRESS', hostOf(shop.id), 'ENVIRONMENT', environmentId)
  })
  after(async () => {
    await shop?.git.remove()
    await session?.close()
  })

  const map = () => session.page.getByRole('region', { name: 'Map of the services' })
  const views = () => session.page.getByRole('navigation', { name: 'View of the services' })

  it('says in the table which service refers to which', async () => {
    const { page } = session
    await session.open(`/environments/${environmentId}`)
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'shop', exact: true }) })
    await row.getByText('cart by CART_URL').waitFor()
    await page.getByText('Shared variables refer to shop: SHOP_ADDRESS').waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('shows the services and their lines, and its address keeps the choice', async () => {
    const { page } = session
    await views().getByRole('link', { name: 'Map' }).click()
    await map().getByRole('link', { name: /^shop/ }).waitFor()
    await map().locator('.react-flow__edge').waitFor({ state: 'attached' })
    assert.match(page.url(), /\?view=map$/)
    await page.reload()
    await map().getByRole('link', { name: /^cart/ }).waitFor()
    await map().getByRole('link', { name: /^shop/ }).hover()
    await map().getByText('CART_URL').waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('shows the state of a deployment as it changes', async () => {
    await shop.git.push(web('first'))
    await shop.deploy()
    await map()
      .getByRole('link', { name: /^shop *deployed/ })
      .waitFor({ timeout: 90_000 })
  })

  it('is used with the keyboard alone', async () => {
    const { page } = session
    await map().focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.locator('a:focus', { hasText: 'cart' }).waitFor()
    await page.keyboard.press('ArrowUp')
    await page.locator('a:focus', { hasText: 'shop' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor()
    await page.goBack()
    await map().waitFor()
    await views().getByRole('link', { name: 'Table' }).click()
    await page.getByRole('row').first().waitFor()
    assert.match(page.url(), /environments\/[^?]+$/)
  })

  it('draws the visible part of 200 services only, and scrolls through them at once', async () => {
    const { page, server } = session
    const big = await makeEnvironment(server, 'big')
    const { results: stages } = await server.must<Stages>('GET', `/environment/${big}/deploymentStage`)
    let last = ''
    for (let number = 0; number < 200; number++) {
      const id = await makeService(big, `service-${number}`)
      if (last) await setVariable('PREVIOUS', hostOf(last), 'APPLICATION', id)
      const stage = stages[number % stages.length]
      if (stage) await server.must('PUT', `/deploymentStage/${stage.id}/service/${id}`, {})
      last = id
    }
    await session.open(`/environments/${big}?view=map`)
    await map().getByRole('link').first().waitFor()
    const drawn = await map().locator('.react-flow__node').count()
    assert.ok(drawn > 10 && drawn < 100, `${drawn} boxes`)
    const scriptMs = await measureScript(
      page,
      `new Promise((resolve) => {
      let count = 0
      const next = () => {
        document.querySelector('.react-flow__pane').dispatchEvent(
          new WheelEvent('wheel', { deltaX: 12, deltaY: 6, bubbles: true, cancelable: true }))
        if (++count < ${frames}) requestAnimationFrame(next)
        else resolve()
      }
      next()
    })`,
    )
    // Two busy cores take 42 ms. The time to draw depends on the graphics of the machine.
    assert.ok(scriptMs / frames < 150, `${scriptMs / frames} ms of scripts a frame`)
    assert.deepEqual(await violations(page), [])
    assert.deepEqual(session.objections, [])
  })
})
