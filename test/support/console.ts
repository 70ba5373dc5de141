import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { buildConsole } from '../../bootstrap/console.mjs'
import { createOwner, openTestBrowser, signIn, type TestBrowser } from './chromium.ts'
import { type ServerProcess, startServer } from './server-process.ts'

/** The console in front of a real server, with its owner signed in. */
export interface TestConsole {
  readonly server: ServerProcess
  readonly browser: TestBrowser
  readonly page: Page
  /** The address of the organization's page. */
  readonly home: string
  /** Errors of the page's own scripts. */
  readonly errors: readonly string[]
  /** These errors, and everything else to which the browser objected, such as a broken policy. */
  readonly objections: readonly string[]
  /** Opens a page of the organization by its path, which begins with a slash. */
  open(path: string): Promise<void>
  close(): Promise<void>
}

/** Builds the console if its sources are newer, starts a server and signs its owner in. */
export async function openConsole(env: Readonly<Record<string, string>> = {}): Promise<TestConsole> {
  assert.equal(await buildConsole(new URL('../..', import.meta.url).pathname, process.execPath), undefined)
  const server = await startServer({ env })
  try {
    return await signedIn(server, await openTestBrowser())
  } catch (error) {
    await server.close()
    throw error
  }
}

async function signedIn(server: ServerProcess, browser: TestBrowser): Promise<TestConsole> {
  const context = await browser.context({
    viewport: { width: 1200, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const [objections, errors]: [string[], string[]] = [[], []]
  page.on('console', (message) => message.type() === 'error' && objections.push(message.text()))
  page.on('pageerror', ({ message }) => [objections, errors].forEach((list) => void list.push(message)))
  const home = `${server.apiUrl}/organizations/${server.organizationId}`
  try {
    await createOwner(page, server)
    await signIn(page, home)
    await page.getByRole('heading', { name: 'Projects' }).waitFor()
  } catch (error) {
    await browser.close()
    throw error
  }
  return {
    server,
    browser,
    page,
    home,
    errors,
    // The browser also logs every answer that is an error.
    get objections() {
      return objections.filter((text) => !text.startsWith('Failed to load resource'))
    },
    open: async (path) => void (await page.goto(`${home}${path}`)),
    async close() {
      await browser.close()
      await server.close()
    },
  }
}
