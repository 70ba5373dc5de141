import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { makeApplication, makeEnvironment } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'

const run = promisify(execFile)

// A person who takes a request of a form to a shell. The commands are run by the real curl.

describe('a form as curl', { skip: noBrowser ?? false }, () => {
  let session: TestConsole
  before(async () => {
    session = await openConsole()
  })
  after(() => session?.close())

  const dialog = (name: string) => session.page.getByRole('dialog', { name })
  /** Shows the command, and returns it by the clipboard. */
  const copied = async (): Promise<string> => {
    const { page } = session
    await page.getByRole('button', { name: 'As curl …' }).click()
    const shown = dialog('The same with curl')
    await shown.getByLabel('Command').waitFor()
    assert.deepEqual(await violations(page), [])
    await shown.getByRole('button', { name: 'Copy the command' }).click()
    await shown.getByText('Copied.').waitFor()
    const text = String(await page.evaluate('navigator.clipboard.readText()'))
    await shown.getByRole('button', { name: 'Close' }).click()
    await dialog('The same with curl').waitFor({ state: 'detached' })
    return text
  }
  const inShell = async (command: string): Promise<string> => {
    const env = { PATH: process.env['PATH'], QUAYSIDE_TOKEN: session.server.token }
    return (await run('sh', ['-c', command], { env })).stdout
  }

  it('sends nothing, and does the same in a shell', async () => {
    const { page, server } = session
    const posts: string[] = []
    page.on('request', (request) => request.method() === 'POST' && posts.push(request.url()))
    await session.open('')
    await page.getByRole('button', { name: 'New project' }).click()
    await dialog('New project').getByLabel('Name', { exact: true }).fill(`Ada's "$(shop)"`)
    const sentBefore = posts.length
    const command = await copied()
    assert.equal(posts.length, sentBefore)
    assert.doesNotMatch(command, /eyJ|quay_/)
    assert.match(command, /Bearer \$QUAYSIDE_TOKEN/)
    assert.match(await inShell(command), /"name":"Ada's \\"\$\(shop\)\\""/)
    await dialog('New project').getByRole('button', { name: 'Create the project' }).click()
    // The shell has made a project of this name.
    await dialog('New project')
      .getByText(/exists already|already exists|is taken/)
      .waitFor()
    const { results } = await server.must<{ results: { name: string }[] }>(
      'GET',
      `/organization/${server.organizationId}/project`,
    )
    assert.equal(results.filter(({ name }) => name.startsWith('Ada')).length, 1)
  })

  it('does not show a secret', async () => {
    const { page, server } = session
    const environmentId = await makeEnvironment(server, 'staging')
    await session.open(`/environments/${environmentId}/variables`)
    await page.getByRole('button', { name: 'New variable' }).click()
    const form = dialog('New variable')
    await form.getByLabel('Key', { exact: true }).fill('DOOR_CODE')
    await form.getByLabel('Value', { exact: true }).fill('swordfish')
    await form.getByLabel(/^Secret/).check()
    const command = await copied()
    assert.doesNotMatch(command, /swordfish/)
    await inShell(command.replace('<secret>', 'swordfish'))
    await form.getByRole('button', { name: 'Close' }).click()
    await page.reload()
    await page.getByText('DOOR_CODE').waitFor()
    assert.deepEqual(session.objections, [])
  })

  it('does not show the new value of a secret, of one variable and of a file', async () => {
    const { page, server } = session
    await page.getByRole('button', { name: 'Change DOOR_CODE' }).click()
    await dialog('Change DOOR_CODE').getByLabel('Value', { exact: true }).fill('pike and perch')
    const command = await copied()
    assert.doesNotMatch(command, /pike/)
    assert.match(command, /"value": "<secret>"/)
    await dialog('Change DOOR_CODE').getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Paste a .env file' }).click()
    const file = dialog('Paste a .env file')
    await file.getByLabel('Content of the file').fill("DOOR_CODE=trout\nGREETING=it's $(me)!")
    const both = await copied()
    assert.doesNotMatch(both, /trout/)
    assert.equal(both.match(/^curl /gm)?.length, 2)
    await inShell(both.replace('<secret>', 'trout'))
    await file.getByRole('button', { name: 'Close' }).click()
    const id = page.url().split('/environments/')[1]?.split('/')[0]
    const { results } = await server.must<{ results: { key: string; value: string | null }[] }>(
      'GET',
      `/variable?parent_id=${id}&scope=ENVIRONMENT`,
    )
    assert.equal(results.find(({ key }) => key === 'GREETING')?.value, "it's $(me)!")
  })

  it('shows the next change of any button instead of sending it', async () => {
    const { page, server } = session
    const environmentId = await makeEnvironment(server, 'buttons')
    const shop = await makeApplication(server, { environmentId, name: 'shop' })
    const posts: string[] = []
    page.on('request', (request) => request.method() === 'POST' && posts.push(request.url()))
    await session.open(`/environments/${environmentId}/application/${shop.id}`)
    const deploy = page.locator('main header').getByRole('button', { name: 'Deploy', exact: true })
    await deploy.waitFor()
    await page.keyboard.press('c')
    await page.getByText('The next change is not sent.').waitFor()
    assert.deepEqual(await violations(page), [])
    const sentBefore = posts.length
    await deploy.click()
    const shown = dialog('The same with curl')
    const command = await shown.getByLabel('Command').inputValue()
    assert.equal(posts.length, sentBefore)
    await shown.getByRole('button', { name: 'Close' }).click()
    await dialog('The same with curl').waitFor({ state: 'detached' })
    assert.equal(await page.getByText('The next change is not sent.').count(), 0)
    assert.match(await inShell(command), /"state"/)
    assert.match(command, new RegExp(`POST '${server.apiUrl}/application/${shop.id}/deploy'`))
    await shop.git.remove()
  })

  it('shows the request of a deletion before its name is typed', async () => {
    const { server } = session
    const environmentId = await makeEnvironment(server, 'empty')
    await session.open(`/environments/${environmentId}?act=delete`)
    await dialog('Delete the environment “empty”').waitFor()
    const command = await copied()
    assert.match(command, new RegExp(`DELETE '${server.apiUrl}/environment/${environmentId}'`))
    await dialog('Delete the environment “empty”').getByRole('button', { name: 'Close' }).click()
    await inShell(command)
    assert.deepEqual(session.objections, [])
  })

  it('shows the request of a deployment', async () => {
    const { page, server } = session
    const environmentId = await makeEnvironment(server, 'copied')
    await session.open(`/environments/${environmentId}?act=copy`)
    await dialog('Copy copied').waitFor()
    const command = await copied()
    assert.match(command, new RegExp(`POST '${server.apiUrl}/environment/${environmentId}/clone'`))
    assert.match(await inShell(command), /"name":"copied copy"/)
    await page.keyboard.press('Escape')
  })
})
