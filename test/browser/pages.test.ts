import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { listPages, pages } from '../support/console-pages.ts'
import { type Furnished, furnish, type Texts } from '../support/furnish.ts'
import { walkByKeyboard } from '../support/keyboard.ts'
import { type QuietPage, quietPage } from '../support/quiet.ts'

// Every page of the console: its title, its colours, a narrow window and the keyboard.

/** Texts without a space are the hardest for a narrow window. */
const text: Texts = (field) =>
  field.endsWith('description') ? `The ${field}, which is a whole sentence.` : field.replaceAll(' ', '-')

/** The names of the tables that are wider than their place. */
const wideTables = `[...document.querySelectorAll('section:has(> table)')]
  .filter((frame) => frame.scrollWidth > frame.clientWidth)
  .map((frame) => frame.getAttribute('aria-label'))`

describe('every page of the console', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let page: Page
  let quiet: QuietPage
  let furnished: Furnished

  before(async () => {
    ours = await openConsole()
    ;({ page } = ours)
    quiet = quietPage(page)
    furnished = await furnish(ours.server, text)
  })
  after(() => ours?.close())

  for (const route of Object.keys(pages)) {
    it(`works at ${route}`, async (t) => {
      for (const { address, heading } of listPages(furnished, text).filter((one) => one.route === route)) {
        t.diagnostic(address)
        await page.setViewportSize({ width: 1200, height: 900 })
        assert.equal(await quiet.open(`${ours.server.apiUrl}${address}`), heading)
        assert.equal(await page.title(), `${heading} – Quayside`)
        assert.deepEqual(await violations(page), [])
        assert.deepEqual(await walkByKeyboard(page), { missed: [], unmarked: [], leaves: true })
        await page.emulateMedia({ colorScheme: 'dark' })
        assert.deepEqual(await violations(page, ['color-contrast']), [], 'dark')
        await page.emulateMedia({ colorScheme: 'light' })
        await page.setViewportSize({ width: 380, height: 700 })
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 380)
        assert.deepEqual(await page.evaluate(wideTables), [])
        assert.deepEqual(await violations(page), [], 'on a phone')
      }
    })
  }

  it('draws the rows of a table as blocks on a phone, which are still a table', async () => {
    await page.setViewportSize({ width: 380, height: 700 })
    const { organizationId, environmentId } = furnished
    await quiet.open(`${ours.server.apiUrl}/organizations/${organizationId}/environments/${environmentId}/variables`)
    await page.getByLabel('Show built-in variables').check()
    const row = page.getByRole('row', { name: /QUAYSIDE_ENVIRONMENT_ID|QOVERY_ENVIRONMENT_ID / }).first()
    await row.waitFor()
    // The rows are drawn again.
    await page.getByLabel('Search in the keys').fill('nothing of this name')
    await page.getByText('No key contains this text.').waitFor()
    await page.getByLabel('Search in the keys').fill('ENVIRONMENT_ID')
    const cell = row.getByRole('cell', { name: 'built-in', exact: true }).first()
    await cell.waitFor()
    assert.equal(await page.getByRole('columnheader', { name: 'Scope' }).count(), 1)
    const drawn = await page.evaluate(`(() => {
      const scope = document.querySelector('tbody td:nth-child(3)')
      return [getComputedStyle(scope).display, getComputedStyle(scope, '::before').content]
    })()`)
    assert.deepEqual(drawn, ['flow-root', '"Scope" / ""'])
    assert.equal(await row.getAttribute('role'), 'row')
  })

  it('has no error in its scripts', () => assert.deepEqual(ours.objections, []))
})
