import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { buildConsole } from '../../bootstrap/console.mjs'
import { createOwner, openTestBrowser, signIn, type TestBrowser } from './chromium.ts'
import { type ServerProcess, startServer } from './server-process.ts'

/** A real server, and a browser in which the owner of its organization is signed in. */
export interface ConsoleSession {
  readonly server: ServerProcess
  readonly browser: TestBrowser
  readonly page: Page
  /** The address of the organization's page. */
  readonly home: string
  /** Errors of the page's own scripts. */
  readonly errors: readonly string[]
  close(): Promise<void>
}

export async function openConsole(): Promise<ConsoleSession> {
  assert.equal(await buildConsole(new URL('../..', import.meta.url).pathname, process.execPath), undefined)
  const server = await startServer()
  const browser = await openTestBrowser()
  const context = await browser.context({ viewport: { width: 1200, height: 900 } })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  await createOwner(page, server)
  const home = `${server.apiUrl}/organizations/${server.organizationId}`
  await signIn(page, home)
  await page.getByRole('heading', { name: 'Projects' }).waitFor()
  const close = async (): Promise<void> => {
    await browser.close()
    await server.close()
  }
  return { server, browser, page, home, errors, close }
}
