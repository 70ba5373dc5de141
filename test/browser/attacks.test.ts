import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { makeApplication, type TestApplication } from '../support/application.ts'
import { noBrowser } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { listPages } from '../support/console-pages.ts'
import { type Furnished, furnish } from '../support/furnish.ts'
import { type Damage, type HostileTexts, hostileTexts, watchDamage } from '../support/hostile.ts'
import { quietPage } from '../support/quiet.ts'
import { until } from '../support/until.ts'

// Texts of users with markup, scripts and controls of terminals, on every page of the console.

const script = 'javascript:hostile()'

describe('hostile texts in the console', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let page: Page
  let damage: Damage
  let furnished: Furnished
  let hostile: HostileTexts
  let shop: TestApplication

  before(async () => {
    ours = await openConsole()
    ;({ page } = ours)
    hostile = hostileTexts()
    damage = await watchDamage(page.context(), ours.server.apiUrl)
    furnished = await furnish(ours.server, hostile.text)
    const { environmentId } = furnished
    shop = await makeApplication(ours.server, { environmentId, name: 'shop' })
  })
  after(async () => {
    await shop?.git.remove()
    await ours?.close()
  })

  const assertNoDamage = async (where: string): Promise<void> => {
    const elements = await damage.elements(page)
    const { scripts, requests, reports } = damage
    assert.deepEqual(
      { scripts, requests, reports, elements },
      { scripts: [], requests: [], reports: [], elements: [] },
      where,
    )
  }

  it('are seen by this test if a page shows them as markup', async (t) => {
    const other = await ours.browser.context()
    t.after(() => other.close())
    const seen = await watchDamage(other, ours.server.apiUrl)
    const victim = await other.newPage()
    // Otherwise the console goes to the sign-in page.
    await victim.route('**/assets/**', (route) => route.abort())
    await victim.goto(`${ours.server.apiUrl}/organizations/x`)
    await victim.evaluate(
      (text) => void Object(globalThis).document.body.insertAdjacentHTML('beforeend', text),
      hostile.text('a description'),
    )
    assert.ok((await seen.elements(victim)).length >= 3)
    // The policy keeps their scripts and requests from running.
    await until('the policy reported them', () => (seen.reports.length >= 2 ? true : undefined))
    assert.deepEqual(seen.scripts, [])
  })

  it('stay texts in commit messages and lines', async () => {
    const link = '\\u001b]8;;javascript:hostile()\\u0007link\\u001b]8;;\\u0007'
    const line = `${hostile.text('line')}\\u001b[31mred\\u001b[0m${link}`
    await shop.git.push(
      {
        Dockerfile: 'FROM quayside/node:24\nCOPY . ./\nCMD ["node", "app.js"]\n',
        'app.js': `console.log('${line}'); require('node:http').createServer((_, reply) => reply.end()).listen(8080)
          process.on('SIGTERM', () => process.exit(0))`,
      },
      hostile.text('commit message'),
    )
    await shop.deploy()
    await shop.reaches(['RUNNING'])
    await ours.open(`/environments/${furnished.environmentId}/application/${shop.id}`)
    await page.getByText('link').last().waitFor()
    const shown = await page.getByRole('region', { name: 'Lines of the service' }).innerText()
    assert.match(shown, /<img class=hostile/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what it looks for
    assert.doesNotMatch(shown, /[\u0000-\u0008\u000b-\u001f\u007f]/)
    await page
      .getByRole('cell')
      .filter({ hasText: hostile.text('commit message') })
      .waitFor()
    await assertNoDamage('service')
  })

  it('are rejected as addresses, with the name of the field', async () => {
    const organization = `/organization/${furnished.organizationId}`
    const attacks: readonly (readonly [method: string, path: string, body: object, field: RegExp])[] = [
      ['POST', `${organization}/webhook`, { target_url: script, events: ['DEPLOYMENT_STARTED'] }, /target_url/],
      ['POST', `${organization}/containerRegistry`, { name: 'r', kind: 'GENERIC_CR', url: script, config: {} }, /url/],
      [
        'POST',
        `${organization}/gitToken`,
        { name: 'g', type: 'GITLAB', git_api_url: script, token: 't' },
        /git_api_url/,
      ],
      ['PUT', organization, { name: 'o', website_url: script }, /website_url/],
      [
        'POST',
        `/environment/${furnished.environmentId}/application`,
        { name: 'a', git_repository: { url: script } },
        /url/,
      ],
      [
        'POST',
        `/application/${furnished.services['application']}/customDomain`,
        { domain: script, generate_certificate: false },
        /domain/,
      ],
    ]
    for (const [method, path, body, field] of attacks) {
      const { status, body: answer } = await ours.server.api<{ message: string }>(method, path, body)
      assert.equal(status, 400, path)
      assert.match(answer.message, field)
    }
  })

  it('stay texts on every page, and the policy reports nothing', async () => {
    const quiet = quietPage(page)
    for (const { address, heading } of listPages(furnished, hostile.text)) {
      assert.equal(await quiet.open(`${ours.server.apiUrl}${address}`), heading, address)
      await assertNoDamage(address)
    }
  })
})
