import type { Locator } from 'playwright-core'

/**
 * Waits until something of a page is gone. An open dialog hides the page behind it from roles, so
 * it must close first: until then everything there would seem gone. Rejects after `timeout`
 * milliseconds for each of both.
 */
export async function gone(shown: Locator, timeout = 20_000): Promise<void> {
  await shown.page().getByRole('dialog').waitFor({ state: 'detached', timeout })
  await shown.waitFor({ state: 'detached', timeout })
}
