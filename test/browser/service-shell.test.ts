import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'

// A person with a shell in a replica. Its image has no shell, so the command is Node.js itself.

describe('a shell in the console', { skip: noBrowser ?? false }, () => {
  let session: TestConsole
  let shop: TestApplication
  const sockets: string[] = []

  before(async () => {
    session = await openConsole()
    session.page.on('websocket', (socket) => sockets.push(socket.url()))
    const environmentId = await makeEnvironment(session.server, 'staging')
    shop = await makeApplication(session.server, { environmentId, name: 'shop' })
    await shop.run(web('first'))
  })
  after(async () => {
    await shop?.git.remove()
    await session?.close()
  })

  const press = (name: string) => session.page.getByRole('button', { name, exact: true }).click()
  const screen = () => session.page.locator('.xterm-rows')
  const shows = (text: string | RegExp) =>
    until(`the terminal shows ${text}`, async () => {
      const shown = ((await screen().textContent()) ?? '').replaceAll('\u00a0', ' ')
      return typeof text === 'string' ? shown.includes(text) : text.test(shown)
    })
  const open = async (command: string) => {
    await session.page.getByLabel('Command').fill(command)
    await press('Open the shell')
  }

  it('says why a command could not be started', async () => {
    const { page, home } = session
    await page.goto(`${home}/environments/${shop.environmentId}/application/${shop.id}`)
    await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Shell' }).click()
    await page.getByLabel('Replica').waitFor()
    assert.deepEqual(await violations(page), [])
    await open('nothing-of-this-name')
    await page
      .getByRole('status')
      .filter({ hasText: /nothing-of-this-name|exit code/ })
      .waitFor()
  })

  it('runs a command, and says how it ended', async () => {
    const { page } = session
    await open('node')
    await shows('>')
    await page.keyboard.type('6 * 7\n')
    await shows('42')
    assert.deepEqual(await violations(page), [])
    await page.keyboard.type('process.exit(3)\n')
    await page.getByText('The command ended with exit code 3.').waitFor()
  })

  it('gives the program the size of the page, and the text of the clipboard', async () => {
    const { page } = session
    await open('node')
    await shows('>')
    await page.keyboard.type('"wide" + process.stdout.columns\n')
    await shows(/'wide1[0-9]{2}'/)
    await page.setViewportSize({ width: 600, height: 900 })
    await until('it is narrower', async () => {
      await page.keyboard.type('"now" + process.stdout.columns\n')
      await shows(/'now\d+'/)
      return /'now[5-9]\d'/.test((await screen().textContent()) ?? '')
    })
    await page.evaluate(`(() => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', '"pas" + "ted"\\n')
      const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true })
      document.querySelector('.xterm textarea').dispatchEvent(paste)
    })()`)
    await shows("'pasted'")
  })

  it('is left and closed by keyboard alone, and no address has a token', async () => {
    const { page, objections } = session
    await page.keyboard.press('F6')
    await page.keyboard.press('Enter')
    await page.getByText('You closed the shell.').waitFor()
    assert.ok(sockets.some((url) => url.includes('/shell/exec')))
    assert.deepEqual(
      sockets.filter((url) => /eyJ|bearer|token/i.test(url)),
      [],
    )
    assert.deepEqual(objections, [])
  })

  it('says that the connection was lost, and opens another shell', async () => {
    const { page, server } = session
    await open('node')
    await shows('>')
    await server.kill9()
    await page.getByText('The connection to the server was lost.').waitFor({ timeout: 30_000 })
    await server.restart()
    await open('node')
    await shows('>')
  })
})
