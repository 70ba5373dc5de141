import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { makeEnvironment } from '../support/application.ts'
import { noBrowser, signIn, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { gone } from '../support/gone.ts'
import { until } from '../support/until.ts'

// Two browsers at the same pages. Neither is ever reloaded: each shows the changes of the other.

describe('two people in the console', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let ada: Page
  let bob: Page
  let environmentId = ''
  let serviceId = ''
  let loads = 0

  before(async () => {
    ours = await openConsole()
    ada = ours.page
    environmentId = await makeEnvironment(ours.server, 'shared')
    const registries = `/organization/${ours.server.organizationId}/containerRegistry`
    const { results } = await ours.server.must<{ results: { id: string }[] }>('GET', registries)
    const made = await ours.server.must<{ id: string }>('POST', `/environment/${environmentId}/container`, {
      ...{ name: 'stall', registry_id: results[0]?.id, image_name: 'team/stall', tag: '1' },
      ...{ ports: [], healthchecks: {}, cpu: 250, memory: 256 },
    })
    serviceId = made.id
    bob = await (await ours.browser.context({ viewport: { width: 1200, height: 900 } })).newPage()
    bob.setDefaultTimeout(20_000)
    await signIn(bob, ours.home)
    await bob.getByRole('heading', { name: 'Projects' }).waitFor()
  })
  after(() => ours?.close())

  const both = async (path: string): Promise<void> => {
    await Promise.all([ada, bob].map((page) => page.goto(`${ours.home}${path}`)))
    loads = 0
    bob.on('load', () => loads++)
  }
  const service = (tab: string): string => `/environments/${environmentId}/container/${serviceId}/${tab}`
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

  it('a variable that one adds appears in the browser of the other', async () => {
    await both(service('variables'))
    await bob.getByRole('heading', { name: 'stall' }).waitFor()
    await press(ada, 'New variable')
    await ada.getByRole('dialog').getByLabel('Key', { exact: true }).fill('GREETING')
    await ada.getByRole('dialog').getByLabel('Value', { exact: true }).fill('hello')
    await ada.getByRole('dialog').getByRole('button', { name: 'Add the variable' }).click()
    await bob.getByRole('row').filter({ hasText: 'GREETING' }).getByText('hello').waitFor()
    assert.equal(loads, 0)
  })

  it('a variable of the project appears on the page of a service', async () => {
    const { project } = await ours.server.must<{ project: { id: string } }>('GET', `/environment/${environmentId}`)
    const body = { key: 'EVERYWHERE', value: 'yes', is_secret: false, variable_scope: 'PROJECT' }
    await ours.server.must('POST', '/variable', { ...body, variable_parent_id: project.id })
    for (const page of [ada, bob]) await page.getByRole('row').filter({ hasText: 'EVERYWHERE' }).waitFor()
    assert.equal(loads, 0)
  })

  it('a form without input follows the settings that the other saves', async () => {
    await both(service('settings'))
    await bob.getByLabel('Memory').waitFor()
    await ada.getByLabel('Memory').fill('512')
    await press(ada, 'Save')
    await ada.getByText('Everything is saved.').waitFor()
    await until('the form shows the new value', async () => (await bob.getByLabel('Memory').inputValue()) === '512')
    await bob.getByText('Everything is saved.').waitFor()
    assert.equal(await bob.getByText('The record has changed').count(), 0)
  })

  it('a form with input keeps it, says what has changed, and saves both changes', async () => {
    await bob.getByLabel('CPU').fill('300')
    await bob.getByRole('textbox', { name: 'Tag' }).fill('mine')
    await ada.getByLabel('Memory').fill('640')
    await ada.getByRole('textbox', { name: 'Tag' }).fill('theirs')
    await press(ada, 'Save')
    const notice = bob.getByText('The record has changed meanwhile. Your input is kept.')
    await notice.waitFor()
    assert.match(
      (await notice.textContent()) ?? '',
      /New in this form: Memory\. Changed by you and by somebody else: Tag\. Saving keeps your values\.$/,
    )
    assert.equal(await bob.getByLabel('Memory').inputValue(), '640')
    assert.deepEqual(
      [await bob.getByLabel('CPU').inputValue(), await bob.getByRole('textbox', { name: 'Tag' }).inputValue()],
      ['300', 'mine'],
    )
    assert.deepEqual(await violations(bob), [])
    await press(bob, 'Save')
    await bob.getByText('Everything is saved.').waitFor()
    await gone(notice)
    const saved = await ours.server.must<object>('GET', `/container/${serviceId}`)
    assert.partialDeepStrictEqual(saved, { cpu: 300, memory: 640, tag: 'mine' })
    await until('the other form follows', async () => (await ada.getByLabel('CPU').inputValue()) === '300')
  })

  it('a member sees a webhook, a stage and a domain that another one adds', async () => {
    const { organizationId } = ours.server
    await bob.goto(`${ours.home}/settings/webhooks`)
    await bob.getByRole('heading', { name: 'Webhooks' }).waitFor()
    const target_url = 'http://127.0.0.1:9/hook'
    const webhook = { kind: 'STANDARD', target_url, description: '', enabled: true }
    await ours.server.must('POST', `/organization/${organizationId}/webhook`, {
      ...webhook,
      ...{ events: ['DEPLOYMENT_STARTED'], project_names_filter: [], environment_types_filter: [] },
    })
    await bob.getByText(target_url).first().waitFor()
    await bob.goto(`${ours.home}/environments/${environmentId}/stages`)
    await bob.getByRole('heading', { name: 'shared' }).waitFor()
    await ours.server.must('POST', `/environment/${environmentId}/deploymentStage`, { name: 'late night' })
    await bob.getByText('late night').locator('visible=true').first().waitFor()
    await bob.goto(`${ours.home}${service('domains')}`)
    await bob.getByRole('heading', { name: 'stall' }).waitFor()
    const domain = { domain: 'stall.quayside-example.org', generate_certificate: false }
    await ours.server.must('POST', `/container/${serviceId}/customDomain`, domain)
    await bob.getByText('stall.quayside-example.org').first().waitFor()
    assert.deepEqual(ours.objections, [])
  })

  it('the proof of a domain appears when the platform has found it', async () => {
    const item = bob.getByRole('article').filter({ hasText: 'stall.quayside-example.org' })
    await item.getByText('waits for its proof').waitFor()
    await ours.server.sql`
      update custom_domain set proof = 'TXT', proven_at = now() where domain = 'stall.quayside-example.org'`
    await gone(item.getByText('waits for its proof'))
  })
})
