import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { web } from '../support/trees.ts'

// A person who reviews a deployment before it begins. The tests build on each other.

describe('the review of a deployment', { skip: noBrowser ?? false }, () => {
  let session: TestConsole
  let shop: TestApplication
  let cart: TestApplication
  let environmentId: string

  before(async () => {
    session = await openConsole()
    environmentId = await makeEnvironment(session.server, 'staging')
    shop = await makeApplication(session.server, { environmentId, name: 'shop' })
    cart = await makeApplication(session.server, { environmentId, name: 'cart' })
    await create('GREETING', 'hello', false)
    await create('DOOR_CODE', 'swordfish', true)
    await shop.run(web('first'))
    await shop.git.push(web('second'))
    for (const { id, key } of await own()) {
      const value = key === 'GREETING' ? 'good evening' : 'tuna'
      await session.server.must('PUT', `/variable/${id}`, { key, value })
    }
  })
  after(async () => {
    await shop?.git.remove()
    await cart?.git.remove()
    await session?.close()
  })

  const create = (key: string, value: string, is_secret: boolean): Promise<unknown> =>
    session.server.must('POST', '/variable', {
      key,
      value,
      is_secret,
      variable_scope: 'ENVIRONMENT',
      variable_parent_id: environmentId,
    })
  const own = async () => {
    const path = `/variable?parent_id=${environmentId}&scope=ENVIRONMENT`
    type List = { readonly results: readonly { id: string; key: string; scope: string }[] }
    const { results } = await session.server.must<List>('GET', path)
    return results.filter(({ scope }) => scope === 'ENVIRONMENT')
  }
  const dialog = () => session.page.getByRole('dialog')
  const part = (name: string) => dialog().getByRole('region', { name, exact: true })
  const open = async (): Promise<void> => {
    await session.open(`/environments/${environmentId}?act=deploy`)
    await part('shop').waitFor()
  }
  const isDeployed = async (): Promise<void> => {
    await dialog().waitFor({ state: 'detached' })
    const state = (await shop.settles()).state
    assert.equal(state, 'RUNNING')
  }

  it('shows each changed value before and after, and none of a secret', async () => {
    const { page } = session
    await open()
    const changes = part('shop').getByLabel('Changes of shop')
    await changes.locator('del', { hasText: 'hello' }).waitFor()
    await changes.locator('ins', { hasText: 'good evening' }).waitFor()
    await changes.getByText('another value, which is secret').waitFor()
    assert.doesNotMatch(await page.content(), /swordfish|tuna/)
    await part('cart').getByText('starts for the first time').waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('is refused without a service, and deploys only the chosen ones', async () => {
    await part('cart').getByRole('checkbox').uncheck()
    await part('shop').getByRole('checkbox').uncheck()
    const button = dialog().getByRole('button', { name: 'Deploy 0 of 2' })
    assert.equal(await button.getAttribute('title'), 'no service is chosen')
    await part('shop').getByRole('checkbox').check()
    await dialog().getByRole('button', { name: 'Deploy 1 of 2' }).click()
    await isDeployed()
    assert.match((await shop.answer()).body, /second/)
    assert.equal((await cart.status()).state, 'READY')
  })

  it('deploys a service at another commit', async () => {
    const { page } = session
    await open()
    await part('shop')
      .getByText(/runs [0-9a-f]{8}/)
      .waitFor()
    await part('cart').getByRole('checkbox').uncheck()
    await part('shop').getByRole('button', { name: 'Another commit of shop' }).click()
    const commits = part('shop').getByLabel('commit of shop')
    await commits.selectOption({ index: 2 })
    await part('shop')
      .getByText(/is deployed at [0-9a-f]{12}/)
      .waitFor()
    assert.deepEqual(await violations(page), [])
    await dialog().getByRole('button', { name: 'Deploy 1 of 2' }).click()
    await isDeployed()
    assert.match((await shop.answer()).body, /first/)
  })

  it('shows the message of the API if the commits cannot be read', async () => {
    const { page, server } = session
    await server.must('PUT', `/application/${cart.id}`, {
      name: 'cart',
      git_repository: { url: cart.git.url, branch: 'nowhere' },
    })
    await open()
    await part('cart').getByRole('button', { name: 'Another commit of cart' }).click()
    await part('cart').getByRole('alert').waitFor()
    assert.deepEqual(await violations(page), [])
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
  })

  it('restarts the services of an environment that run', async () => {
    const { page } = session
    await page.getByRole('button', { name: 'More' }).focus()
    await page.keyboard.press('Enter')
    await page.locator('[role="menuitem"]:focus', { hasText: 'Restart' }).waitFor()
    assert.deepEqual(await violations(page), [])
    await page.keyboard.press('Enter')
    await page.getByText('restarted', { exact: true }).first().waitFor({ timeout: 60_000 })
    assert.deepEqual(session.objections, [])
  })
})
