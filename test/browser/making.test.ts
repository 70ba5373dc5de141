import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Locator } from 'playwright-core'
import { noBrowser, violations } from '../support/chromium.ts'
import { type ConsoleSession, openConsole } from '../support/console-session.ts'

// A person who makes a project, an environment and services in the console. The tests build on each
// other.

describe('making things in the console', { skip: noBrowser ?? false }, () => {
  let session: ConsoleSession

  before(async () => {
    session = await openConsole()
  })
  after(() => session?.close())

  const dialog = (): Locator => session.page.getByRole('dialog')
  const press = (name: string | RegExp, inside: Pick<Locator, 'getByRole'> = session.page): Promise<void> =>
    inside.getByRole('button', { name }).click()
  const confirm = async (name: string, button: string): Promise<void> => {
    const send = dialog().getByRole('button', { name: button })
    assert.equal(await send.getAttribute('aria-disabled'), 'true')
    await dialog().getByLabel('to confirm').fill(name)
    await send.click()
  }

  it('creates a project, and shows the reason of the API if its name is taken', async () => {
    const { page, server } = session
    const { name: taken } = (
      await server.must<{ results: { name: string }[] }>('GET', `/organization/${server.organizationId}/project`)
    ).results[0] ?? { name: '' }
    await press('New project')
    await dialog().getByLabel('Name').fill(taken)
    assert.deepEqual(await violations(page), [])
    await press('Create the project', dialog())
    await dialog().getByRole('alert').getByText('already exists').waitFor()
    await dialog().getByLabel('Name').fill('Shop')
    await press('Create the project', dialog())
    await page.getByRole('heading', { name: 'Shop' }).waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('creates an environment on a cluster, and shows the message about a field beside it', async () => {
    const { page, server } = session
    const project = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Shop' }) })
    await press('New environment', project)
    await dialog().getByLabel('Name').fill('x'.repeat(256))
    assert.deepEqual(await violations(page), [])
    await press('Create the environment', dialog())
    await dialog().getByText('name must have at most 255 characters.').waitFor()
    await dialog().getByLabel('Name').fill('staging')
    await dialog().getByLabel('Mode').selectOption('STAGING')
    await press('Create the environment', dialog())
    await page.getByRole('heading', { name: 'staging' }).waitFor()
    const [, id = ''] = /environments\/([\w-]+)$/.exec(page.url()) ?? []
    const { mode } = await server.must<{ mode: string }>('GET', `/environment/${id}`)
    assert.equal(mode, 'STAGING')
  })

  it('deletes an environment and then its project once their names are typed', async () => {
    const { page, home } = session
    await press('Delete')
    assert.deepEqual(await violations(page), [])
    await confirm('staging', 'Delete the environment')
    await page.waitForURL(home)
    const project = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Shop' }) })
    await project.getByText('no environment yet').waitFor()
    await press('Delete', project)
    await confirm('Shop', 'Delete the project')
    await page.getByRole('heading', { name: 'Shop' }).waitFor({ state: 'detached' })
  })

  it('has no error in its scripts', () => assert.deepEqual(session.errors, []))
})
