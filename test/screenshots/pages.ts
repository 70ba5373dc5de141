import type { Page } from 'playwright-core'
import type { Shop } from './shop.ts'

/** A page of the console that is shown in the documents. */
export interface Picture {
  readonly name: string
  /** Below the address of the organization. */
  readonly path: string
  /** Waits until the page shows everything. */
  ready?(page: Page): Promise<unknown>
}

const text = (words: string | RegExp) => (page: Page) => page.getByText(words).first().waitFor()

/** Lists the main pages of the console for a shop. */
export function picturesOf({ environmentId, storefront, database, job }: Shop): readonly Picture[] {
  const environment = `/environments/${environmentId}`
  const service = `${environment}/application/${storefront.id}`
  return [
    { name: 'organization', path: '' },
    { name: 'environment', path: environment, ready: text('API_URL') },
    {
      name: 'map',
      path: `${environment}?view=map`,
      ready: (page) => page.locator('.react-flow__edge').first().waitFor({ state: 'attached' }),
    },
    { name: 'service', path: service, ready: text(/GET .cart/) },
    { name: 'deployments', path: `${service}/deployments` },
    { name: 'lines', path: `${service}/lines`, ready: text(/payment of order/) },
    // The figures are drawn from the moment at which the page was opened.
    { name: 'metrics', path: `${service}/metrics`, ready: (page) => page.waitForTimeout(15_000) },
    { name: 'variables', path: `${service}/variables`, ready: text('STRIPE_SECRET_KEY') },
    { name: 'backups', path: `${environment}/database/${database.id}/backups`, ready: text('monday') },
    { name: 'job', path: `${environment}/job/${job.id}/runs` },
  ]
}
