import { serviceKinds } from '@quayside/contract/services/kinds.ts'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { newRandomId } from '../lib/id.ts'
import { checkName } from '../lib/text.ts'
import { type EnvironmentRow, nameTaken } from '../organizations/index.ts'
import { applicationRecord } from './application-record.ts'
import { type Ceiling, checkApplication, checkStorageGrowth } from './application-rules.ts'
import {
  type ApplicationBody,
  type ApplicationChange,
  type ApplicationSettings,
  changeSettings,
  newSettings,
  type PortSettings,
} from './application-settings.ts'
import {
  findService,
  holdEnvironment,
  insertService,
  listServices,
  lockService,
  type ServiceRow,
  updateService,
} from './service-store.ts'

export interface ServicesOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ceiling: Ceiling
  /** Gives the service's public ports their host names, in the same transaction. */
  readonly declareHosts: (
    sql: Sql,
    service: { id: string; name: string; ports: readonly PortSettings[] },
  ) => Promise<void>
  /** Throws with a sentence when the address may never be a repository's. */
  readonly checkRepositoryAddress: (url: string) => void
  /** The provider of the organization's git token; throws 404 when it has none of that id, 400 when it is for another host. */
  readonly gitTokenType: (sql: Sql, organizationId: string, id: string, url: string) => Promise<Provider>
}
type Provider = ApplicationSettings['git_repository']['provider']

const kind = serviceKinds.application

/** Services as records: their settings, never what runs of them. */
export function createServices(options: ServicesOptions) {
  const { database, clock, ceiling } = options
  const record = (row: ServiceRow) => applicationRecord(row, ceiling)

  const check = (settings: ApplicationSettings): void => {
    checkAddress(options, settings.git_repository.url)
    checkApplication(settings, ceiling)
  }
  const tokenType = async (
    sql: Sql,
    organizationId: string,
    body: ApplicationChange,
    former?: ApplicationSettings,
  ): Promise<Provider | undefined> => {
    const repository = body.git_repository
    if (!repository) return undefined
    const { git_token_id: id = former?.git_repository.git_token_id, url } = repository
    return id ? options.gitTokenType(sql, organizationId, id, url) : undefined
  }

  return {
    record,

    async list(environmentId: string) {
      return (await listServices(database, environmentId, 'application')).map(record)
    },

    async create(environment: EnvironmentRow, body: ApplicationBody) {
      refuseUnavailable(body)
      const name = checkServiceName(body.name)
      const id = newRandomId()
      const row = await inTransaction(database, async (sql) => {
        if (!(await holdEnvironment(sql, environment.id))) {
          throw new AppError('conflict', `Environment "${environment.name}" is being deleted.`)
        }
        const type = await tokenType(sql, environment.organization_id, body)
        const settings = newSettings(body, type, kind.defaultIcon)
        check(settings)
        const service = { id, environment_id: environment.id, kind: 'application' as const, name, settings }
        await insertService(sql, { ...service, description: body.description ?? '' }, kind.defaultStage, clock.now())
        await options.declareHosts(sql, { id, name, ports: settings.ports })
        return findService(sql, id)
      }).catch(nameTaken('A service', name))
      if (!row) throw new Error('the new service is not there')
      return record(row)
    },

    async edit(service: ServiceRow, body: ApplicationChange) {
      refuseUnavailable(body)
      const name = body.name === undefined ? service.name : checkServiceName(body.name)
      const row = await inTransaction(database, async (sql) => {
        await lockService(sql, service.id)
        const current = await findService(sql, service.id)
        if (!current) throw new AppError('notFound', 'There is no such object.')
        const type = await tokenType(sql, service.organization_id, body, current.settings)
        const settings = changeSettings(current.settings, body, type)
        check(settings)
        if (current.last_deployment_date) checkStorageGrowth(current.settings, settings)
        const description = body.description === undefined ? current.description : (body.description ?? '')
        await updateService(sql, service.id, { name, description, settings }, clock.now())
        await options.declareHosts(sql, { id: service.id, name, ports: settings.ports })
        return findService(sql, service.id)
      }).catch(nameTaken('A service', name))
      return record(row ?? service)
    },
  }
}

function checkAddress(options: ServicesOptions, url: string): void {
  try {
    options.checkRepositoryAddress(url)
  } catch (error) {
    const sentence = error instanceof Error ? error.message : String(error)
    throw new AppError('invalid', `git_repository.url: ${sentence}`, { cause: error })
  }
}

function checkServiceName(text: string): string {
  const name = checkName('name', text)
  if ([...name].length > 63) throw new AppError('invalid', 'name must be at most 63 characters.')
  return name
}

/** What is part of the API but not there yet is refused, never accepted and forgotten. */
function refuseUnavailable(body: ApplicationChange): void {
  for (const field of ['annotations_groups', 'labels_groups'] as const) {
    if (body[field]?.length) throw new AppError('notFound', `${field}[0].id: there is no such object.`)
  }
  if (body.autoscaling) {
    throw new AppError(
      'invalid',
      'autoscaling: policies are not available; use min_running_instances and max_running_instances.',
    )
  }
  for (const [index, port] of (body.ports ?? []).entries()) {
    if (port.public_path || port.public_path_rewrite) {
      throw new AppError(
        'invalid',
        `ports[${index}].public_path: paths are not available; give each port a host of its own.`,
      )
    }
  }
}
