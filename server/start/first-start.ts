import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureBaseImage } from '../builders/index.ts'
import { adoptInCluster, findCluster, insertBuiltInCluster, insertOwnCluster } from '../clusters/index.ts'
import type { Composition } from '../composition/index.ts'
import type { Config } from '../config.ts'
import { type Database, inTransaction, readSetting, type Sql, writeSetting } from '../database/index.ts'
import { addressOf, listServiceRoutes, urlOf } from '../domains/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { messageOf } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import type { Logger } from '../lib/log.ts'
import { findEnvironment, insertOrganization } from '../organizations/index.ts'
import { addDefaultRegistries } from '../registries/index.ts'
import { lastReason } from '../rollout/index.ts'
import { findService } from '../services/index.ts'
import type { Vault } from '../vault/index.ts'
import { readVersionRecord } from './platform-version.ts'
import { writePrivate } from './private-file.ts'
import { timed } from './timed.ts'

/**
 * The objects that the first start has created. They are stored, so that the next start continues
 * after an interruption.
 */
interface Progress {
  readonly organizationId: string
  /** The admin token was created, and its file written. */
  readonly token?: true
  readonly applicationId?: string
  readonly done?: true
  readonly [key: string]: string | true | undefined
}

export interface FirstStartOptions {
  readonly config: Config
  readonly database: Database
  readonly composition: Composition
  readonly say: (line: string) => void
  readonly signal: AbortSignal
  readonly vault: Vault
  /** The promise of `startBaseImage`. */
  readonly baseImage: Promise<void>
}

export const tokenFile = ({ dataDirectory }: Pick<Config, 'dataDirectory'>): string =>
  join(dataDirectory, 'admin-token')

const by = { id: 'first start', name: 'First start', origin: 'QOVERY_INTERNAL' as const }
const examples = fileURLToPath(new URL('../../examples/hello', import.meta.url))
const longestWaitMs = 180_000
const longestCertificateMs = 30_000

/** A start of the server, as far as it is known at its beginning. */
interface Beginning {
  readonly config: Pick<Config, 'dataDirectory' | 'dockerSocket'>
  readonly log: Logger
  readonly signal: AbortSignal
  /** Ends what a failed start leaves. */
  readonly started: AsyncDisposableStack
}

/**
 * Makes the base image of the example while the database starts, if no version has run on the data
 * directory before. Never rejects: the first start asks for the image again and reports why it
 * cannot be made.
 */
export async function startBaseImage({ config, log, signal, started }: Beginning): Promise<void> {
  const failed = new AbortController()
  started.defer(() => failed.abort())
  try {
    const { dockerSocket: socketPath, dataDirectory } = config
    if (socketPath === undefined || (await readVersionRecord(dataDirectory))) return
    await ensureBaseImage({ socketPath }, AbortSignal.any([signal, failed.signal]))
  } catch (error) {
    log.debug({ err: error }, 'the base image was not made in advance')
  }
}

/** The results of the first start. */
export interface FirstStart {
  /** Only if it was created by this start. */
  readonly token?: string
  /** The address of the example. Undefined if it does not run. */
  readonly url?: string
  /** The reason why the example, or the cluster of the pod, does not run. */
  readonly problem?: string
}

/**
 * Creates what a new installation needs to be tried out: organization, admin token, cluster,
 * project, environment, and a running application. Without a Docker Engine it creates the cluster
 * of its pod instead of the last three. Returns undefined if an earlier start did all of it. If
 * something of it cannot run, everything else still works.
 */
export async function firstStart(options: FirstStartOptions): Promise<FirstStart | undefined> {
  const { database, signal } = options
  const before = await readProgress(database)
  if (before?.done) return undefined
  const organizationId = before?.organizationId ?? (await makeOrganization(options))
  const token = before?.token ? {} : { token: await makeToken(options, organizationId) }
  const { dockerSocket: socketPath } = options.config
  const what = socketPath === undefined ? 'cluster of this server is not deployed' : 'example does not run'
  try {
    if (socketPath !== undefined) {
      return { ...token, url: await runExample({ ...options, socketPath }, organizationId, before?.applicationId) }
    }
    await deployFirstCluster(options, organizationId)
    await writeProgress(database, { organizationId, token: true, done: true })
    return token
  } catch (error) {
    if (signal.aborted) throw error
    return { ...token, problem: `The ${what}: ${messageOf(error)}` }
  }
}

/** Deploys the example from its files, and returns the address of the application. */
async function runExample(
  options: FirstStartOptions & { readonly socketPath: string },
  organizationId: string,
  former: string | undefined,
): Promise<string> {
  const { database, composition, say, signal, baseImage, socketPath } = options
  await timed(say, 'Making the base image of the example from this Node (nothing is pulled)', async () => {
    await baseImage
    await ensureBaseImage({ socketPath }, signal)
  })
  await timed(say, 'Pushing examples/hello to the built-in git host', () =>
    composition.gitHost.importDirectory(organizationId, 'hello', examples, 'Add an example application'),
  )
  const applicationId = former ?? (await makeApplication(options, organizationId))
  await timed(say, 'Deploying it', () => deploy(options, applicationId))
  await writeProgress(database, { organizationId, token: true, applicationId, done: true })
  return exampleUrl(options, applicationId)
}

/** Returns the address of the example. Waits a while for its certificate if one is expected. */
async function exampleUrl({ database, composition, signal }: FirstStartOptions, id: string): Promise<string> {
  const { publicAddress } = composition.rooms
  const end = clock.monotonic() + longestCertificateMs
  for (;;) {
    const [route] = await listServiceRoutes(database, id)
    if (!route) throw new Error('the example has no address')
    const isComing = publicAddress.tlsPort !== undefined && route.certificate?.state === 'PENDING'
    if (!isComing || clock.monotonic() > end) return urlOf(route.host, addressOf(route, publicAddress))
    await clock.sleep(100, signal)
  }
}

async function makeOrganization({ database, config, say }: FirstStartOptions): Promise<string> {
  const { dockerSocket, inCluster, domain } = config
  say(`Creating organization, admin token${dockerSocket === undefined ? '' : ' and built-in cluster'}`)
  const organizationId = newId()
  const now = clock.now()
  await inTransaction(database, async (sql) => {
    await insertOrganization(sql, { id: organizationId, name: 'Quayside', now })
    if (dockerSocket !== undefined) {
      await insertBuiltInCluster(sql, { id: newId(), organization_id: organizationId, name: 'local', now })
    } else if (inCluster) {
      const owned = { id: inCluster.clusterId, organization_id: organizationId, name: 'kubernetes' }
      await insertOwnCluster(sql, { ...owned, domain, now })
    }
    await addDefaultRegistries(sql, organizationId, now)
    await writeProgress(sql, { organizationId })
  })
  return organizationId
}

/**
 * Deploys the cluster in which the server runs, so that services can run there. Its log says how
 * that ends.
 */
async function deployFirstCluster(
  { database, config, composition, vault, say }: FirstStartOptions,
  organizationId: string,
): Promise<void> {
  const { inCluster } = config
  if (!inCluster) return say('Connect a cluster of Kubernetes, because this installation has no Docker Engine.')
  await adoptInCluster({ database, vault, clock }, inCluster)
  const { clusterId } = inCluster
  // An earlier start may have begun it.
  if ((await findCluster(database, organizationId, clusterId))?.status !== 'READY') return
  await composition.rooms.clusters.operations.deploy(organizationId, clusterId, by.name, false)
  say('Deploying the cluster of this server')
}

/** Creates the token again if a start was interrupted before its file was written. */
async function makeToken(options: FirstStartOptions, organizationId: string): Promise<string> {
  const { database, config, composition } = options
  const { apiTokens } = composition.rooms
  for (const former of await apiTokens.list(organizationId, { name: 'admin' })) {
    await apiTokens.remove(organizationId, former.id)
  }
  const admin = { name: by.name, permissions: ['ADMIN' as const] }
  const { token } = await apiTokens.create(organizationId, admin, { name: 'admin', scope: 'ADMIN' })
  await writePrivate(tokenFile(config), token)
  await writeProgress(database, { organizationId, token: true })
  return token
}

async function makeApplication({ database, config, composition }: FirstStartOptions, organizationId: string) {
  const { projects, environments, services } = composition.rooms
  const project =
    (await projects.list(organizationId)).find(({ name }) => name === 'demo') ??
    (await projects.create(organizationId, { name: 'demo', description: 'Created by the first start' }))
  const environmentId =
    (await environments.list(project.id)).find(({ name }) => name === 'production')?.id ??
    (await environments.create(project, organizationId, { name: 'production', mode: 'PRODUCTION' })).id
  const environment = await findEnvironment(database, environmentId)
  if (!environment) throw new Error('the new environment does not exist')
  const existing = (await services.list(environmentId, 'application')).results.find(({ name }) => name === 'hello')
  const application = existing ?? (await services.create('application', environment, helloApplication(config)))
  await writeProgress(database, { organizationId, token: true, applicationId: application.id })
  return application.id
}

const helloApplication = ({ publicUrl }: Config) => ({
  name: 'hello',
  git_repository: { url: `${publicUrl}/git/hello.git`, branch: 'main' },
  build_mode: 'DOCKER' as const,
  cpu: 250,
  memory: 128,
  gpu: 0,
  min_running_instances: 1,
  max_running_instances: 1,
  auto_preview: false,
  ports: [{ internal_port: 8080, publicly_accessible: true, protocol: 'HTTP' as const }],
  storage: [],
  arguments: [],
  healthchecks: {},
})

/** Deploys, and waits until the application runs. Throws with the reason if it does not. */
async function deploy({ database, composition, signal }: FirstStartOptions, applicationId: string): Promise<void> {
  const service = await findService(database, applicationId)
  if (!service || service.state === 'DEPLOYED') return
  if (service.state === 'READY' || service.state.endsWith('_ERROR')) {
    await composition.rooms.deployments.deploy(service, by, undefined)
  }
  const end = clock.monotonic() + longestWaitMs
  while (clock.monotonic() < end) {
    const state = (await findService(database, applicationId))?.state
    if (state === 'DEPLOYED') return
    if (state === undefined || state.endsWith('_ERROR') || state === 'CANCELED') {
      throw new Error(`The example could not be deployed: ${(await lastReason(database, applicationId)) ?? state}`)
    }
    await clock.sleep(50, signal)
  }
  throw new Error(`The example was not deployed within ${longestWaitMs / 1000} s.`)
}

const readProgress = (sql: Sql): Promise<Progress | undefined> => readSetting<Progress>(sql, 'first_start')
const writeProgress = (sql: Sql, progress: Progress): Promise<void> => writeSetting(sql, 'first_start', progress)
