import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { gone } from '../support/gone.ts'
import { until } from '../support/until.ts'

interface Rule {
  readonly id: string
  readonly name: string
  readonly [field: string]: unknown
}

// A person who sets the rules and settings of a project and of its environments. The tests build
// on each other.

describe('rules and settings in the console', { skip: noBrowser ?? false }, () => {
  let session: TestConsole
  let projectId: string
  let environmentId: string

  before(async () => {
    session = await openConsole()
    const { server } = session
    const project = { name: 'bazaar', description: 'sells things' }
    const path = `/organization/${server.organizationId}/project`
    projectId = (await server.must<{ id: string }>('POST', path, project)).id
    const made = await server.must<{ id: string }>('POST', `/project/${projectId}/environment`, { name: 'staging' })
    environmentId = made.id
  })
  after(() => session?.close())

  const dialog = () => session.page.getByRole('dialog')
  const button = (name: string) => session.page.getByRole('button', { name, exact: true })
  const heading = (name: string, level: number) => session.page.getByRole('heading', { name, level, exact: true })
  const rules = async (): Promise<readonly Rule[]> =>
    (await session.server.must<{ results: Rule[] }>('GET', `/project/${projectId}/deploymentRule`)).results
  const addRule = async (name: string, wildcard: string): Promise<void> => {
    await button('New rule').click()
    await dialog().getByLabel('Name', { exact: true }).fill(name)
    await dialog().getByLabel('Names of environments').fill(wildcard)
  }
  const fits = async (): Promise<void> => {
    const { page } = session
    await page.setViewportSize({ width: 380, height: 800 })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
    await page.setViewportSize({ width: 1200, height: 900 })
  }

  it('creates a rule with every field of the API, and draws its week', async () => {
    const { page } = session
    await session.open(`/projects/${projectId}/rules`)
    await page.getByText('The project has no rule.').waitFor()
    await addRule('features', 'feature-*')
    await dialog().getByLabel('Description').fill('short-lived')
    await dialog().getByLabel('Mode').selectOption('STAGING')
    await dialog().getByLabel('Stop the services outside of these hours').check()
    await dialog().getByLabel('Friday').uncheck()
    await dialog().getByLabel('Start', { exact: true }).fill('07:30')
    await dialog().getByLabel('Time zone').fill('Mars/Olympus')
    await dialog().getByRole('button', { name: 'Create the rule' }).click()
    await dialog().getByRole('alert').getByText('timezone').waitFor()
    assert.deepEqual(await violations(page), [])
    await dialog().getByLabel('Time zone').fill('Europe/Paris')
    await dialog().getByRole('button', { name: 'Create the rule' }).click()
    await heading('features', 3).waitFor()
    await page.getByText('07:30–19:00').first().waitFor()
    const [rule] = await rules()
    assert.partialDeepStrictEqual(rule, {
      ...{ name: 'features', description: 'short-lived', wildcard: 'feature-*', mode: 'STAGING', auto_stop: true },
      ...{ timezone: 'Europe/Paris', start_time: '1970-01-01T07:30:00.000Z' },
      weekdays: ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY'],
    })
    assert.deepEqual(await violations(page), [])
    await fits()
  })

  it('orders rules with the keyboard, edits and deletes them', async () => {
    const { page } = session
    await addRule('all', '*')
    await dialog().getByRole('button', { name: 'Create the rule' }).click()
    await heading('all', 3).waitFor()
    await button('Move all up').focus()
    await page.keyboard.press('Enter')
    await page.locator('button[aria-label="Move all up"][title="it is the first rule"]').waitFor()
    assert.deepEqual(
      (await rules()).map(({ name }) => name),
      ['all', 'features'],
    )
    await button('Edit all').click()
    await dialog().getByLabel('Names of environments').fill('main')
    await dialog().getByRole('button', { name: 'Save the rule' }).click()
    await page.getByText('main', { exact: true }).waitFor()
    await button('Delete all').click()
    await dialog().getByLabel('to confirm').fill('all')
    await dialog().getByRole('button', { name: 'Delete the rule' }).click()
    await gone(heading('all', 3))
    assert.deepEqual(
      (await rules()).map(({ name }) => name),
      ['features'],
    )
  })

  it('shows the rules of the project at an environment, and stores its flags of previews', async () => {
    const { page, server } = session
    await session.open(`/environments/${environmentId}/rules`)
    await heading('features', 3).waitFor()
    await page.getByText('No rule matches the name “staging”.').waitFor()
    const { id: deploymentRuleId, ...old } = (await rules())[0] ?? assert.fail('there is no rule')
    const path = `/project/${projectId}/deploymentRule/${deploymentRuleId}`
    await server.must('PUT', path, { ...old, wildcard: 'STAG*' })
    await page.reload()
    await page.getByText('matches this environment').waitFor()
    await server.must('PUT', path, { ...old })
    await page.getByLabel('A preview of each pull request').check()
    await button('Save the flags').click()
    await page.getByText('Saved.').waitFor()
    const rule = await server.must<Rule>('GET', `/environment/${environmentId}/deploymentRule`)
    assert.partialDeepStrictEqual(rule, { auto_preview: true, on_demand_preview: false })
    assert.deepEqual(await violations(page), [])
    await fits()
  })

  it('changes the settings of an environment and of a project', async () => {
    const { page, server } = session
    await session.open(`/environments/${environmentId}/settings`)
    await page.getByLabel('Name', { exact: true }).fill('')
    await page.getByLabel('Mode').selectOption('PRODUCTION')
    await page.getByLabel('Name', { exact: true }).fill('live')
    assert.deepEqual(await violations(page), [])
    await button('Save').click()
    await heading('live', 1).waitFor()
    await page.getByText('Saved.').waitFor()
    const stored = await server.must<Rule>('GET', `/environment/${environmentId}`)
    assert.partialDeepStrictEqual(stored, { name: 'live', mode: 'PRODUCTION' })
    await page.getByRole('navigation', { name: 'Way to this page' }).getByRole('link', { name: 'bazaar' }).click()
    await page.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: 'Settings' }).click()
    await page.getByLabel('Description').fill('')
    await button('Save').click()
    await page.getByText('Saved.').waitFor()
    const project = await server.must<Rule>('GET', `/project/${projectId}`)
    assert.partialDeepStrictEqual(project, { name: 'bazaar', description: '' })
    assert.deepEqual(await violations(page), [])
  })

  it('copies an environment by the rule that matches its name', async () => {
    const { page, server } = session
    await session.open(`/environments/${environmentId}?act=copy`)
    await dialog().getByLabel('Name of the copy').fill('feature-one')
    await dialog()
      .getByLabel(/^Apply the deployment rule/)
      .check()
    assert.deepEqual(await violations(page), [])
    await dialog().getByRole('button', { name: 'Copy', exact: true }).click()
    await heading('feature-one', 1).waitFor()
    const [, id = ''] = /environments\/([\w-]+)$/.exec(page.url()) ?? []
    assert.equal((await server.must<Rule>('GET', `/environment/${id}`))['mode'], 'STAGING')
  })

  it('stops, uninstalls or deletes several services by one request', async () => {
    const { page, server } = session
    const made = await server.must<Rule>('POST', `/project/${projectId}/environment`, { name: 'crowded' })
    const image = { type: 'REDIS', version: '7', mode: 'CONTAINER', accessibility: 'PRIVATE', storage: 10 }
    for (const name of ['carts', 'stock', 'visits']) {
      await server.must('POST', `/environment/${made.id}/database`, { name, ...image })
    }
    const left = async (): Promise<readonly string[]> => {
      const path = `/environment/${made.id}/database`
      return (await server.must<{ results: Rule[] }>('GET', path)).results.map(({ name }) => name)
    }
    await session.open(`/environments/${made.id}`)
    await button('More').click()
    await page.getByRole('menuitem', { name: 'Several services …' }).click()
    const send = (words: string) => dialog().getByRole('button', { name: words })
    await send('Stop 0 of 3').waitFor()
    assert.equal(await send('Stop 0 of 3').getAttribute('aria-disabled'), 'true')
    await dialog().getByLabel('carts').check()
    await dialog().getByLabel('visits').check()
    await dialog().getByLabel('Action').selectOption('uninstall')
    await send('Uninstall 2 of 3').waitFor()
    await dialog().getByLabel('Action').selectOption('delete')
    await dialog().getByText('the data of the database carts (10 GB)').waitFor()
    assert.equal(await dialog().getByText('the data of the database stock (10 GB)').count(), 0)
    assert.deepEqual(await violations(page), [])
    assert.equal(await send('Delete 2 of 3').getAttribute('aria-disabled'), 'true')
    await dialog().getByLabel('Type “crowded” to confirm').fill('crowded')
    await send('Delete 2 of 3').click()
    await dialog().waitFor({ state: 'hidden' })
    await until('two are deleted', async () => (await left()).join() === 'stock')
  })

  it('names everything that a deletion of an environment loses', async () => {
    const { page, server } = session
    // The copy may still be in progress.
    const made = await server.must<Rule>('POST', `/project/${projectId}/environment`, { name: 'doomed' })
    const image = { type: 'REDIS', version: '7', mode: 'CONTAINER', accessibility: 'PRIVATE', storage: 10 }
    await server.must('POST', `/environment/${made.id}/database`, { name: 'stock', ...image })
    await server.must('POST', '/variable', {
      ...{ key: 'DOOR_CODE', value: 'swordfish', is_secret: true },
      ...{ variable_scope: 'ENVIRONMENT', variable_parent_id: made.id },
    })
    await session.open(`/environments/${made.id}/hours`)
    await button('More').click()
    await page.getByRole('menuitem', { name: 'Delete …' }).click()
    await dialog().getByText('the data of the database stock (10 GB)').waitFor()
    await dialog().getByText('its variables and secrets DOOR_CODE').waitFor()
    assert.deepEqual(await violations(page), [])
    assert.deepEqual(session.objections, [])
  })
})
