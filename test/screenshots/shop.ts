import { makeApplication, type TestApplication } from '../support/application.ts'
import { makeDatabase, type TestDatabase } from '../support/database.ts'
import type { Tree } from '../support/git-remote.ts'
import { makeJob, program, type TestJob } from '../support/job.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { until } from '../support/until.ts'
import { api, failingSearch, search, storefront } from './programs.ts'

type Made = { readonly id: string }

/** A shop that runs: two environments, services of several kinds, a history and a failure. */
export interface Shop {
  readonly environmentId: string
  readonly storefront: TestApplication
  readonly api: TestApplication
  readonly database: TestDatabase
  readonly job: TestJob
  remove(): Promise<void>
}

interface Services extends Pick<Shop, 'environmentId' | 'storefront' | 'api' | 'database' | 'job'> {
  readonly search: TestApplication
}

/** Makes the shop by the API and deploys it on the machine's engine. Takes about two minutes. */
export async function makeShop(server: ServerProcess): Promise<Shop> {
  const project = await server.must<Made>('POST', `/organization/${server.organizationId}/project`, { name: 'Shop' })
  const make = (name: string, mode: string): Promise<Made> =>
    server.must('POST', `/project/${project.id}/environment`, { name, mode })
  const { id: environmentId } = await make('production', 'PRODUCTION')
  await makeStaging(server, (await make('staging', 'STAGING')).id)
  const services = await makeServices(server, environmentId)
  await nameStages(server, environmentId)
  await setVariables(server, services)
  await deployHistory(server, services)
  const remotes = [services.storefront.git, services.api.git, services.search.git, services.job.git]
  return { ...services, remove: async () => void (await Promise.all(remotes.map((remote) => remote.remove()))) }
}

async function makeServices(server: ServerProcess, environmentId: string): Promise<Services> {
  const size = { cpu: 500, memory: 128 }
  const at = (name: string, settings: object = {}) => ({ environmentId, name, settings: { ...size, ...settings } })
  return {
    environmentId,
    database: await makeDatabase(server, environmentId, 'redis', { name: 'cart-store' }),
    storefront: await makeApplication(server, at('storefront', pair)),
    api: await makeApplication(server, at('api')),
    search: await makeApplication(server, at('search')),
    job: await makeJob(server, { environmentId, name: 'daily-report', schedule: { cronjob: report } }),
  }
}

/** The stages of a new environment that have a service, and better names. */
const stages = { 'DEFAULT DATABASE': 'Data', 'DEFAULT JOB': 'Jobs', 'DEFAULT APPLICATION': 'Shop' }

async function nameStages(server: ServerProcess, environmentId: string): Promise<void> {
  const path = `/environment/${environmentId}/deploymentStage`
  const { results } = await server.must<{ results: (Made & { name: string })[] }>('GET', path)
  for (const [old, name] of Object.entries(stages)) {
    const stage = results.find((one) => one.name === old)
    if (stage) await server.must('PUT', `/deploymentStage/${stage.id}`, { name, description: '' })
  }
}

/** Deploys everything, some of it several times. The last deployment fails. */
async function deployHistory(server: ServerProcess, services: Services): Promise<void> {
  const { storefront: front, api: backend, search: finder, database, job } = services
  const ship = async (application: TestApplication, tree: Tree, message: string): Promise<void> => {
    await application.git.push(tree, message)
    await application.deploy()
    await application.settles()
  }
  await database.acts('deploy')
  await ship(backend, api('2.8.1'), 'Return prices with taxes')
  await ship(finder, search, 'Rank products by sales')
  await ship(front, storefront('5.0.2'), 'Show prices with taxes')
  await job.deploy()
  await job.settles()
  await server.must('POST', `/application/${front.id}/customDomain`, { domain: 'shop.example.com', ...plain })
  await ship(front, storefront('5.0.3'), 'Keep the cart after signing in')
  await ship(front, storefront('5.1.0'), 'Wish lists for everybody')
  await runJob(server, job)
  await backUp(server, database)
  await ship(finder, failingSearch, 'Search in descriptions')
}

const pair = { min_running_instances: 2, max_running_instances: 2 }
const plain = { generate_certificate: false }
const report = {
  scheduled_at: '30 6 * * *',
  timezone: 'Europe/Paris',
  ...program(`console.log('184 orders, 3 declined payments');console.log('the report was sent to 4 people')`),
}

/** A small second environment, whose only service runs. */
async function makeStaging(server: ServerProcess, environmentId: string): Promise<void> {
  const preview = await makeApplication(server, { environmentId, name: 'storefront-next' })
  await preview.run(storefront('6.0.0-beta.2'))
  await preview.git.remove()
}

const digits = (id: string): string => id.replaceAll('-', '').slice(0, 8).toUpperCase()

async function setVariables(server: ServerProcess, services: Services): Promise<void> {
  const { environmentId, storefront: front, api: backend, search: finder, database, job } = services
  const host = (word: string, { id }: Made): string => `{{QOVERY_${word}_Z${digits(id)}_HOST_INTERNAL}}`
  const of = (scope: string, { id }: Made) => ({ variable_scope: scope, variable_parent_id: id, is_secret: false })
  const [own, shared] = [of('APPLICATION', front), of('ENVIRONMENT', { id: environmentId })]
  const apiUrl = { key: 'API_URL', value: `http://${host('APPLICATION', backend)}:8080` }
  const list = [
    { ...own, ...apiUrl, description: 'the API of products and orders' },
    { ...own, key: 'SEARCH_URL', value: `http://${host('APPLICATION', finder)}:8080` },
    { ...own, key: 'CURRENCY', value: 'EUR' },
    { ...own, key: 'FEATURE_WISHLIST', value: 'true', description: 'shows the wish list to everybody' },
    { ...own, key: 'STRIPE_SECRET_KEY', value: 'a-secret-of-the-pictures', is_secret: true },
    { ...of('APPLICATION', backend), key: 'CART_STORE', value: host('REDIS', database) },
    { ...of('JOB', job), ...apiUrl },
    { ...shared, key: 'LOG_LEVEL', value: 'info' },
    { ...shared, key: 'SENTRY_DSN', value: 'another-secret-of-the-pictures', is_secret: true },
    { ...shared, key: 'SHOP_COUNTRY', value: 'DE', description: 'taxes and shipping' },
  ]
  for (const variable of list) await server.must('POST', '/variable', variable)
}

/** Runs the job once now. */
async function runJob(server: ServerProcess, job: TestJob): Promise<void> {
  await server.must('POST', `/job/${job.id}/deploy?forceEvent=CRON`, {})
  await job.settles()
}

async function backUp(server: ServerProcess, database: TestDatabase): Promise<void> {
  for (const name of ['before the sale', 'monday'])
    await until(`the backup "${name}" begins`, async () => {
      const body = { name, message: 'made by hand' }
      return (await server.api('POST', `/database/${database.id}/backup`, body)).status < 300
    })
}
