import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { makeEnvironment } from '../support/application.ts'
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

  it('shows the request of a deployment', async () => {
    const { page, server } = session
    const environmentId = await makeEnvironment(server, 'empty')
    await session.open(`/environments/${environmentId}?act=copy`)
    await dialog('Copy empty').waitFor()
    const command = await copied()
    assert.match(command, new RegExp(`POST '${server.apiUrl}/environment/${environmentId}/clone'`))
    assert.match(await inShell(command), /"name":"empty copy"/)
    await page.keyboard.press('Escape')
  })
})
