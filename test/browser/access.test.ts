import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { gone } from '../support/gone.ts'

// Tokens, container registries and Helm repositories. The tests build on each other.

describe('tokens and registries in the console', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let page: Page

  before(async () => {
    ours = await openConsole()
    ;({ page } = ours)
  })
  after(() => ours?.close())

  const row = (table: string, text: string) =>
    page.getByRole('region', { name: table, exact: true }).getByRole('row').filter({ hasText: text })
  const dialog = () => page.getByRole('dialog')
  const press = (name: string) => page.getByRole('button', { name }).click()
  const confirm = (name: string) => dialog().getByRole('button', { name, exact: true }).click()

  /** Presses the button, and waits until the form is gone. Rows are hidden behind it. */
  const finish = async (name: string): Promise<void> => {
    await confirm(name)
    await dialog().waitFor({ state: 'detached' })
  }

  it('shows a new API token once, and the token works until it is revoked', async () => {
    await ours.open('/settings/api-tokens')
    await press('Create a token')
    await dialog().getByLabel('Name', { exact: true }).fill('ci')
    await confirm('Create')
    const token = await dialog().getByRole('textbox', { name: 'Token' }).inputValue()
    assert.deepEqual(await violations(page), [])
    await page.keyboard.press('Escape')
    await row('API tokens', 'ci').getByText('Viewer').waitFor()
    assert.ok(!(await page.content()).includes(token))
    const ask = () => fetch(`${ours.server.apiUrl}/organization`, { headers: { authorization: `Token ${token}` } })
    assert.equal((await ask()).status, 200)
    await row('API tokens', 'ci').getByRole('button', { name: 'Revoke' }).click()
    await finish('Revoke')
    await gone(row('API tokens', 'ci'))
    assert.equal((await ask()).status, 401)
    assert.deepEqual(await violations(page), [])
  })

  it('stores a git token, and rejects a Bitbucket one without a workspace', async () => {
    await page.getByRole('link', { name: 'Git tokens' }).click()
    await press('Add a git token')
    await dialog().getByLabel('Name', { exact: true }).fill('forge')
    await dialog().getByLabel('Provider').selectOption('Bitbucket')
    await dialog().getByLabel('Token').fill('a-secret-of-the-forge')
    await confirm('Save')
    await dialog()
      .getByRole('alert')
      .filter({ hasText: /workspace/ })
      .waitFor()
    await dialog().getByLabel('Workspace').fill('team')
    assert.deepEqual(await violations(page), [])
    await confirm('Save')
    await row('Git tokens', 'forge').getByText('no service').waitFor()
    assert.ok(!(await page.content()).includes('a-secret-of-the-forge'))
    await row('Git tokens', 'forge').getByRole('button', { name: 'Edit' }).click()
    assert.equal(await dialog().getByLabel('Token').inputValue(), '')
    await dialog().getByLabel('Name', { exact: true }).fill('forge two')
    await confirm('Save')
    await row('Git tokens', 'forge two').getByRole('button', { name: 'Delete' }).click()
    await finish('Delete')
    await page.getByText('There is no git token yet.').waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('adds a container registry, and rejects one without its address', async () => {
    await page.getByRole('link', { name: 'Registries' }).click()
    await press('Add a container registry')
    await dialog().getByLabel('Name', { exact: true }).fill('inner')
    await dialog().getByLabel('Kind').selectOption('GENERIC_CR')
    await dialog().getByLabel('Username').fill('robot')
    await dialog().getByLabel('Password').fill('a-secret-of-the-registry')
    await confirm('Save')
    await dialog().getByRole('alert').filter({ hasText: /url/ }).waitFor()
    await dialog().getByLabel('Address').fill('https://registry.example.org')
    assert.deepEqual(await violations(page), [])
    await confirm('Save')
    await row('Container registries', 'inner').getByText('registry.example.org').waitFor()
    assert.ok(!(await page.content()).includes('a-secret-of-the-registry'))
    await row('Container registries', 'inner').getByRole('button', { name: 'Edit' }).click()
    assert.equal(await dialog().getByLabel('Username').inputValue(), 'robot')
    assert.equal(await dialog().getByLabel('Password').inputValue(), '')
    await page.keyboard.press('Escape')
    assert.deepEqual(await violations(page), [])
  })

  it('names the services that use a registry, and refuses to delete it', async () => {
    const { organizationId } = ours.server
    const list = await ours.server.must<{ results: { id: string; name: string }[] }>(
      'GET',
      `/organization/${organizationId}/containerRegistry`,
    )
    const registry = list.results.find(({ name }) => name === 'inner')?.id
    const project = await ours.server.must<{ id: string }>('POST', `/organization/${organizationId}/project`, {
      name: 'web',
    })
    const environment = await ours.server.must<{ id: string }>('POST', `/project/${project.id}/environment`, {
      name: 'production',
    })
    await ours.server.must('POST', `/environment/${environment.id}/container`, {
      name: 'cache',
      registry_id: registry,
      image_name: 'cache',
      tag: '1',
    })
    await page.reload()
    await row('Container registries', 'inner').getByRole('button', { name: '1 service' }).click()
    await dialog().getByText('cache in').waitFor()
    await dialog().getByRole('link', { name: 'web / production' }).waitFor()
    await page.keyboard.press('Escape')
    await row('Container registries', 'inner').getByRole('button', { name: 'Delete' }).click()
    await confirm('Delete')
    await dialog().getByRole('alert').waitFor()
    await page.keyboard.press('Escape')
  })

  it('adds and deletes a Helm repository', async () => {
    await page.getByRole('link', { name: 'Helm repositories' }).click()
    await press('Add a Helm repository')
    await dialog().getByLabel('Name', { exact: true }).fill('charts')
    await dialog().getByLabel('Address').fill('no address')
    await confirm('Save')
    await dialog().getByRole('alert').filter({ hasText: /url/ }).waitFor()
    await dialog().getByLabel('Address').fill('https://charts.example.org')
    await confirm('Save')
    await row('Helm repositories', 'charts').getByRole('button', { name: 'Delete' }).click()
    await finish('Delete')
    await gone(row('Helm repositories', 'charts.example.org'))
    assert.deepEqual(await violations(page), [])
  })

  it('fits a narrow window, and the browser objects to nothing', async () => {
    await page.setViewportSize({ width: 380, height: 700 })
    for (const name of ['Registries', 'Git tokens', 'API tokens']) {
      await page.getByRole('link', { name }).click()
      await page.getByRole('heading', { level: 1 }).waitFor()
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 380)
    }
    assert.deepEqual(ours.objections, [])
  })
})
