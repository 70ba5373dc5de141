import { isDeepStrictEqual } from 'node:util'
import { databaseTable } from '@quayside/contract/services/database.ts'
import { type KindName, serviceKinds } from '@quayside/contract/services/kinds.ts'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { newRandomId } from '../lib/id.ts'
import { checkName } from '../lib/text.ts'
import { type EnvironmentRow, nameTaken } from '../organizations/index.ts'
import type { EventsOf } from './autoscaling.ts'
import { type CheckOptions, checkOrigins, checkSettings, gitTokenOf, readTokenTypes } from './check-settings.ts'
import { cloneService } from './clone.ts'
import { publishedPort, routedPorts, settingsBranchOf, settingsRecord } from './kind-settings.ts'
import { givePassword } from './password.ts'
import { openSecrets, type Sealer, writeSecrets } from './secrets.ts'
import {
  findService,
  holdEnvironment,
  insertService,
  listServices,
  lockService,
  type ServiceOf,
  type ServiceRow,
  updateAdvancedSettings,
  updateService,
} from './service-store.ts'
import type { CreateBody, EditBody, RecordOf, Settings } from './settings/branch.ts'
import { passwordName } from './settings/database.ts'
import { versionRefusal } from './settings/database-version.ts'
import type { PortSettings } from './settings/ports.ts'

/** The parts of a service besides its settings that its record includes. */
export interface Parts {
  /** Returns the parts of all these services together. */
  readonly of: (sql: Sql, serviceIds: readonly string[]) => Promise<(serviceId: string) => object>
  /** Stores the parts of a body. Throws 404 or 400 that names the field. */
  readonly set: (
    sql: Sql,
    service: { readonly id: string; readonly organizationId: string },
    body: object,
    given: { readonly now: Date; readonly eventsOf: EventsOf },
  ) => Promise<void>
  readonly copy: (sql: Sql, fromServiceId: string, toServiceId: string, now: Date) => Promise<void>
}

/** The names and ports by which a service is reached, and the addresses of its sources. */
interface Addresses {
  /**
   * Gives the service's public ports their host names, in the same transaction. A published service
   * also gets a port of this machine. Throws 409 when none is left.
   */
  readonly declareHosts: (
    sql: Sql,
    service: {
      id: string
      kind: KindName
      name: string
      ports: readonly PortSettings[]
      published: PortSettings | undefined
    },
  ) => Promise<void>
  /** Returns the name by which other services of the environment reach this one. */
  readonly internalHost: (service: { readonly kind: string; readonly id: string }) => string
  /** Returns whether an address is on the built-in git host. */
  readonly isHomeRepository: (url: string) => boolean
}

/** Copies the parts of a service that are not settings. */
interface CopiesOfServices {
  /** Copies the variables and secrets of the original. */
  readonly copyVariables: (
    sql: Sql,
    copy: { readonly from: ServiceRow; readonly to: ServiceRow },
    now: Date,
  ) => Promise<void>
  /** Starts copying the data of the original into the copy. Both are ids. */
  readonly copyData: (sql: Sql, copy: { readonly from: string; readonly to: string }) => Promise<void>
}

/** The parts of other rooms that the records of services use. */
export interface ServicesOptions extends CheckOptions, Addresses, CopiesOfServices {
  readonly database: Database
  readonly clock: Clock
  readonly vault: Sealer
  /**
   * Throws 409 if newly written settings declare larger storages than before and exceed the
   * organization's limit.
   */
  readonly claimDisk: (
    sql: Sql,
    organizationId: string,
    change: { readonly from?: Settings; readonly to: Settings },
  ) => Promise<void>
  readonly parts: Parts
  /** Returns how autoscaling policies act on the clusters of an engine. */
  readonly eventsOf: EventsOf
}

/** Creates the operations for services as records: their settings, never their running state. */
export function createServices(options: ServicesOptions) {
  const { database, clock, vault } = options
  const records = (rows: readonly ServiceRow[], sql: Sql = database) => recordsOf(sql, options, rows)
  const record = async <K extends KindName>(row: ServiceOf<K>, sql: Sql = database): Promise<RecordOf<K>> => {
    // The row is of kind K, and so is the record.
    const [one] = (await records([row as unknown as ServiceRow], sql)) as RecordOf<K>[]
    if (!one) throw new Error(`service ${row.id} has no record`)
    return one
  }
  const existing = async (sql: Sql, id: string): Promise<ServiceRow> => {
    const row = await findService(sql, id)
    if (!row) throw notFound('service', id)
    return row
  }

  return {
    record,
    records,

    /** Lists the services of one kind, or those of them that `choose` returns. */
    async list<K extends KindName>(
      environmentId: string,
      kind: K,
      choose: (all: readonly ServiceRow[]) => Promise<readonly ServiceRow[]> = async (all) => all,
    ): Promise<ListOf<K>> {
      // All of them are of that kind.
      return { results: await records(await choose(await listServices(database, environmentId, kind))) } as ListOf<K>
    },

    async create<K extends KindName>(kind: K, environment: EnvironmentRow, body: CreateBody<K>): Promise<RecordOf<K>> {
      const name = checkServiceName(body.name)
      const id = newRandomId()
      const { organization_id: organizationId } = environment
      return inTransaction(database, async (sql) => {
        await requireEnvironment(sql, environment)
        const now = clock.now()
        const types = await readTokenTypes(sql, options, { kind, organizationId, body })
        const settings = settingsBranchOf(kind).create(body, types)
        checkSettings(kind, settings, environment, options)
        await checkOrigins(sql, { kind, organizationId, settings })
        const git_token_id = gitTokenOf(kind, settings)
        const row = { id, environment_id: environment.id, kind, name, settings, git_token_id }
        await insertService(sql, { ...row, description: body.description ?? '' }, serviceKinds[kind].defaultStage, now)
        await options.claimDisk(sql, organizationId, { to: settings })
        await givePassword(sql, options, { id, organizationId, kind })
        await writeRest(sql, { id, organizationId, kind, name, settings, body })
        return record(await kindred(sql, id, kind), sql)
      }).catch(nameTaken('A service', name))
    },

    async edit<K extends KindName>(service: ServiceOf<K>, body: EditBody<K>): Promise<RecordOf<K>> {
      const { id, kind, organization_id: organizationId } = service
      const name = body.name === undefined ? service.name : checkServiceName(body.name)
      return inTransaction(database, async (sql) => {
        await lockService(sql, id)
        const current = await existing(sql, id)
        const branch = settingsBranchOf(kind)
        const types = await readTokenTypes(sql, options, { kind, organizationId, body, former: current.settings })
        const settings = branch.change(current.settings, body, types)
        checkSettings(kind, settings, current, options)
        await checkOrigins(sql, { kind, organizationId, settings })
        const data = { name: current.name, dataVersion: current.data_version }
        if (current.last_deployment_date) branch.checkDeployed?.(current.settings as never, settings as never, data)
        const description = body.description === undefined ? current.description : (body.description ?? '')
        const written = { name, description, settings, git_token_id: gitTokenOf(kind, settings) }
        await updateService(sql, id, written, clock.now())
        await options.claimDisk(sql, organizationId, { from: current.settings, to: settings })
        await writeRest(sql, { id, organizationId, kind, name, settings, body })
        return record(await kindred(sql, id, kind), sql)
      }).catch(nameTaken('A service', name))
    },

    /**
     * Restores the settings of a previous version and returns the row. Name and description are
     * unchanged. Throws 409 if an object that the settings name is gone, or if existing data do not
     * allow them.
     */
    async restore(service: ServiceRow, former: FormerSettings): Promise<ServiceRow> {
      const { id, kind, organization_id: organizationId } = service
      const { settings, advanced_settings } = former
      return inTransaction(database, async (sql) => {
        await lockService(sql, id)
        const current = await existing(sql, id)
        const { name, description } = current
        if (isDeepStrictEqual([current.settings, current.advanced_settings], [settings, advanced_settings]))
          return current
        await checkOrigins(sql, { kind, organizationId, settings })
        const data = { name, dataVersion: current.data_version }
        settingsBranchOf(kind).checkDeployed?.(current.settings as never, settings as never, data)
        const git_token_id = gitTokenOf(kind, settings)
        if (git_token_id) await readTokenTypes(sql, options, { kind, organizationId, body: settings, former: settings })
        await updateService(sql, id, { name, description, settings, git_token_id }, clock.now())
        await options.claimDisk(sql, organizationId, { from: current.settings, to: settings })
        await updateAdvancedSettings(sql, id, advanced_settings)
        await declareHosts(sql, { id, kind, name, settings })
        return existing(sql, id)
      }).catch((error: unknown) => {
        if (!(error instanceof AppError) || !['notFound', 'invalid', 'conflict'].includes(error.code)) throw error
        throw new AppError('conflict', `The settings of that version cannot be restored: ${error.message}`, {
          cause: error,
        })
      })
    },

    /**
     * Copies settings, variables, secrets and parts, and on request the data. The copy does not
     * run.
     */
    async clone<K extends KindName>(
      service: ServiceOf<K>,
      environment: EnvironmentRow,
      { name: wanted, withData }: { readonly name: string; readonly withData: boolean },
    ): Promise<RecordOf<K>> {
      const name = checkServiceName(wanted)
      if (withData && environment.cluster_id !== service.cluster_id) {
        throw new AppError(
          'invalid',
          'with_data: data can only be copied within one cluster, and the environment is on another one.',
        )
      }
      return inTransaction(database, async (sql) => {
        await requireEnvironment(sql, environment)
        const from = await existing(sql, service.id)
        const id = await cloneService(sql, options, { from, environment, name, withData })
        if (withData) await options.copyData(sql, { from: from.id, to: id })
        return record(await kindred(sql, id, service.kind), sql)
      }).catch(nameTaken('A service', name))
    },

    /**
     * Lists the versions that a database can change to, newest first. A database with data can
     * change only to versions that open them.
     */
    versions: (service: ServiceRow): readonly string[] => {
      const { name, data_version: from, settings } = databaseOf(service)
      const { versions } = databaseTable[settings.type]
      return from === null ? versions : versions.filter((to) => !versionRefusal(settings.type, { from, to, name }))
    },

    /** Returns the credentials of a database's owner. */
    async credentials(service: ServiceRow) {
      const { id, organization_id: organizationId, settings, public_address } = databaseOf(service)
      const { login, port } = databaseTable[settings.type]
      const password = (await openSecrets(database, vault, { id, organizationId })).get(passwordName)
      if (!password) throw new Error(`database ${id} has no password`)
      const address = public_address ?? { host: options.internalHost(service), port }
      return { ...address, login, password: password.reveal() }
    },
  }

  /** Returns the row of a service whose kind is known. */
  async function kindred<K extends KindName>(sql: Sql, id: string, _kind: K): Promise<ServiceOf<K>> {
    // It is found by its id, and a service keeps its kind.
    return (await existing(sql, id)) as unknown as ServiceOf<K>
  }

  /** Stores the parts of a body besides the settings themselves. */
  async function writeRest(sql: Sql, written: Rest): Promise<void> {
    const { id, organizationId, kind, name, settings, body } = written
    const secrets = settingsBranchOf(kind).secrets?.(body as never)
    if (secrets) await writeSecrets(sql, vault, { id, organizationId }, secrets, clock.now())
    await options.parts.set(sql, { id, organizationId }, body, { now: clock.now(), eventsOf: options.eventsOf })
    await declareHosts(sql, { id, kind, name, settings })
  }

  function declareHosts(sql: Sql, { id, kind, name, settings }: Pick<Rest, 'id' | 'kind' | 'name' | 'settings'>) {
    const ports = routedPorts(settings)
    return options.declareHosts(sql, { id, name, kind, ports, published: publishedPort(settings) })
  }
}

function databaseOf(service: ServiceRow): ServiceOf<'database'> {
  if (service.kind === 'database') return service
  throw notFound('database', service.id)
}

/** The stored configuration of a version of a service, without its kind. */
export type FormerSettings = Pick<ServiceRow, 'settings' | 'advanced_settings'>

/** A list of records of any one kind. */
type ListOf<K extends KindName> = { readonly [N in K]: { readonly results: RecordOf<N>[] } }[K]

interface Rest {
  readonly id: string
  readonly organizationId: string
  readonly kind: KindName
  readonly name: string
  readonly settings: Parameters<typeof routedPorts>[0]
  readonly body: object
}

/** Returns the services as the API answers them. */
async function recordsOf(sql: Sql, options: ServicesOptions, rows: readonly ServiceRow[]) {
  const partsOf = await options.parts.of(
    sql,
    rows.filter(({ has_parts }) => has_parts).map(({ id }) => id),
  )
  return rows.map((row) => {
    const { id, created_at, updated_at, name, description, kind } = row
    const base = { id, created_at, updated_at, environment: { id: row.environment_id }, name, description }
    const settings = settingsRecord(row, {
      ceiling: options.ceilingOf(row.cluster_engine),
      host: options.internalHost(row),
      isHome: options.isHomeRepository,
    })
    // Settings and parts belong to its kind: members that the schema does not name are not sent.
    return { ...base, service_type: serviceKinds[kind].type, ...settings, ...partsOf(id) } as RecordOf<KindName>
  })
}

async function requireEnvironment(sql: Sql, { id, name }: EnvironmentRow): Promise<void> {
  if (!(await holdEnvironment(sql, id))) throw new AppError('conflict', `Environment "${name}" is being deleted.`)
}

export function checkServiceName(text: string): string {
  const name = checkName('name', text)
  if ([...name].length > 63) throw new AppError('invalid', 'name must be at most 63 characters.')
  return name
}
