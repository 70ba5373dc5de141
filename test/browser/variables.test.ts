import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Locator } from 'playwright-core'
import { parseEnv } from '../../console/src/forms/parse-env.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { gone } from '../support/gone.ts'
import { get } from '../support/traffic.ts'
import { web } from '../support/trees.ts'

// A person who changes the variables of a project, an environment and a service in the console. The
// tests build on each other.

describe('variables in the console', { skip: noBrowser ?? false }, () => {
  let session: TestConsole
  let shop: TestApplication
  let projectId: string

  before(async () => {
    session = await openConsole()
    const { server } = session
    const environmentId = await makeEnvironment(server, 'staging')
    projectId = (await server.must<{ project: { id: string } }>('GET', `/environment/${environmentId}`)).project.id
    shop = await makeApplication(server, { environmentId, name: 'shop' })
    await shop.run(web('first'))
  })
  after(async () => {
    await shop?.git.remove()
    await session?.close()
  })

  const dialog = (): Locator => session.page.getByRole('dialog')
  const row = (key: string): Locator =>
    session.page.getByRole('row').filter({ has: session.page.getByText(key, { exact: true }) })
  const press = (name: string, inside: Pick<Locator, 'getByRole'> = session.page): Promise<void> =>
    inside.getByRole('button', { name }).click()
  const valueInside = async (key: string): Promise<string> => (await get(`${shop.url}/variable/${key}`)).body

  it('adds a variable of a project, and shows the message of the API about a wrong key', async () => {
    const { page, home } = session
    await page.goto(`${home}/projects/${projectId}/variables`)
    await press('New variable')
    await dialog().getByLabel('Key', { exact: true }).fill('9 LIVES')
    await dialog().getByLabel('Value', { exact: true }).fill('plain')
    assert.deepEqual(await violations(page), [])
    await press('Add the variable', dialog())
    await dialog().getByRole('alert').getByText('key').waitFor()
    await dialog().getByLabel('Key', { exact: true }).fill('GREETING')
    await press('Add the variable', dialog())
    await row('GREETING').getByText('plain').waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('adds a secret of an environment, and does not show its value', async () => {
    const { page, home } = session
    await page.goto(`${home}/environments/${shop.environmentId}/variables`)
    await press('New variable')
    await dialog().getByLabel('Key', { exact: true }).fill('DOOR_CODE')
    await dialog().getByLabel('Value', { exact: true }).fill('swordfish')
    await dialog()
      .getByLabel(/^Secret/)
      .check()
    await press('Add the variable', dialog())
    await row('DOOR_CODE').getByText('secret', { exact: true }).waitFor()
    await page.reload()
    await row('DOOR_CODE').getByText('secret', { exact: true }).waitFor()
    assert.doesNotMatch(await page.content(), /swordfish/)
    assert.deepEqual(await violations(page), [])
  })

  it('overrides a variable and adds an alias in a service', async () => {
    const { page, home } = session
    await page.goto(`${home}/environments/${shop.environmentId}/application/${shop.id}`)
    await page.getByRole('link', { name: 'Variables' }).click()
    await press('Override GREETING')
    await dialog().getByLabel('Value', { exact: true }).fill('special')
    await press('Override', dialog())
    await page.getByText('overrides that of the project').waitFor()
    await press('Alias DOOR_CODE')
    await dialog().getByLabel('Key', { exact: true }).fill('CODE')
    await press('Add the alias', dialog())
    await page.getByText('alias of DOOR_CODE').waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('names the users of a variable, and again before it is deleted', async () => {
    const { page, home } = session
    await page.goto(`${home}/environments/${shop.environmentId}/variables`)
    await row('DOOR_CODE').getByText('CODE of shop (alias)').waitFor()
    await press('Delete DOOR_CODE')
    await dialog().getByText('These aliases and overrides are deleted with it:').waitFor()
    await dialog().getByText('CODE of shop (alias)').waitFor()
    assert.deepEqual(await violations(page), [])
    await page.keyboard.press('Escape')
    await page.goto(`${home}/projects/${projectId}/variables`)
    await row('GREETING').getByText('GREETING of shop (override)').waitFor()
    await row('GREETING').getByRole('link', { name: 'shop' }).click()
    await page.getByText('overrides that of the project').waitFor()
  })

  it('shows the effect of a .env file before it is sent, and imports it', async () => {
    const { page } = session
    await press('Paste a .env file')
    await dialog()
      .getByLabel('Content of the file')
      .fill('nonsense\nGREETING=special\nCODE=1\nexport LEVEL="two\\nlines"')
    await dialog().getByText('These lines cannot be read: 1').waitFor()
    const effects = await dialog().getByRole('row').allInnerTexts()
    assert.deepEqual(
      effects.slice(1).map((line) => line.split('\t').slice(0, 2).join(' ')),
      ['GREETING unchanged', 'CODE left out', 'LEVEL new'],
    )
    assert.deepEqual(await violations(page), [])
    await press('Make 1 change', dialog())
    await row('LEVEL').getByText('two').waitFor()
  })

  it('deploys the changes, which the program then has', async () => {
    const { page } = session
    await press('Deploy with the changes')
    await gone(page.getByText('still runs without the last changes'), 90_000)
    assert.equal(await valueInside('GREETING'), 'special')
    assert.equal(await valueInside('CODE'), 'swordfish')
    assert.equal(await valueInside('LEVEL'), 'two\nlines')
  })

  it('changes and deletes a variable', async () => {
    const { page } = session
    await press('Change LEVEL')
    await dialog().getByLabel('Value', { exact: true }).fill('high')
    await press('Save', dialog())
    await row('LEVEL').getByText('high').waitFor()
    await press('Delete LEVEL')
    await press('Delete', dialog())
    await gone(row('LEVEL'))
    assert.deepEqual(session.errors, [])
    await page.getByText('still runs without the last changes').waitFor()
  })
})

describe('parseEnv', () => {
  const cases: readonly [string, readonly (readonly [string, string])[], readonly number[]][] = [
    [
      'A=1\n# B=2\n\n  C = 3 # three',
      [
        ['A', '1'],
        ['C', '3'],
      ],
      [],
    ],
    ['export A=1\r\nA=2', [['A', '2']], []],
    [
      'A="x \\"y\\" #z\\n"\nB=\'a\\nb\'',
      [
        ['A', 'x "y" #z\n'],
        ['B', 'a\\nb'],
      ],
      [],
    ],
    [
      'A="one\ntwo"\nB=',
      [
        ['A', 'one\ntwo'],
        ['B', ''],
      ],
      [],
    ],
    ['=1\nnothing\nA="open\nB=2', [['B', '2']], [1, 2, 3]],
    ['URL=http://a/?b=c#d', [['URL', 'http://a/?b=c#d']], []],
  ]
  for (const [text, entries, unread] of cases) {
    it(`reads ${JSON.stringify(text)}`, () => {
      const parsed = parseEnv(text)
      assert.deepEqual(
        parsed.entries.map(({ key, value }) => [key, value]),
        entries,
      )
      assert.deepEqual(parsed.unread, unread)
    })
  }

  it('reads a file of many open quotes in linear time', () => {
    const text = 'A="\\"\nB=\'\n'.repeat(100_000)
    const start = performance.now()
    parseEnv(text)
    assert.ok(performance.now() - start < 2_000)
  })
})
