import { join } from 'node:path'
import type { Database } from '../../../server/database/index.ts'
import { newId } from '../../../server/lib/id.ts'
import { imageName } from '../cluster/build.ts'
import { kubectl, must } from '../cluster/commands.ts'
import { addresses, ports } from '../cluster/settings.ts'
import { helmProgram, type Values } from './helm.ts'
import { forwardFromNode } from './node-forward.ts'
import { startOutsideDatabase } from './outside-database.ts'
import { startPasswordRegistry } from './password-registry.ts'
import { makeSharedVolume } from './shared-volume.ts'

/** What an installation of the chart needs on the test cluster and beside it. */
export interface PlatformGround {
  readonly namespace: string
  /** The host of the API. Applications have names below `apps.` of it. */
  readonly host: string
  /** The values of three servers. */
  readonly values: Values
  /** The registry of the test cluster, as pods reach it. */
  readonly source: string
  /** Texts that no log may contain. */
  readonly secrets: readonly string[]
  readonly sql: Database
}

const root = join(import.meta.dirname, '..', '..', '..')

/** Makes a namespace, an image of this checkout, a database, a registry and a volume. */
export async function makePlatformGround(opened: AsyncDisposableStack): Promise<PlatformGround> {
  const name = `chart-${newId().slice(-8)}`
  const namespace = `quayside-${name}`
  const host = `${name}.test`
  await kubectl(['create', 'namespace', namespace])
  opened.defer(async () => void (await kubectl(['delete', 'namespace', namespace], { timeoutMs: 120_000 })))
  // An uninstallation removes these, and a test that fails does not get there.
  const shared = ['clusterrole,clusterrolebinding', `${namespace}:quayside`, '--ignore-not-found']
  opened.defer(async () => void (await kubectl(['delete', ...shared])))
  await kubectl(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted'])
  await makeSharedVolume(opened, namespace)
  const database = await startOutsideDatabase(opened)
  opened.defer(() => removeServices(database.sql))
  const registry = await startPasswordRegistry(opened)
  const source = opened.use(await forwardFromNode({ host: '127.0.0.1', port: ports.registry }))
  const password = `--from-literal=password=${registry.password}`
  await kubectl(['--namespace', namespace, 'create', 'secret', 'generic', 'registry', password])
  return {
    namespace,
    host,
    source: source.place,
    sql: database.sql,
    secrets: [database.password, registry.password],
    values: {
      replicas: 3,
      publicUrl: `http://${host}:${ports.ingress}`,
      domain: `apps.${host}`,
      'image.server': await publishServer(),
      'database.url': database.url,
      'registry.repository': `${registry.place}/platform`,
      'registry.username': registry.username,
      'registry.existingSecret': 'registry',
      'persistence.storageClass': namespace,
      'persistence.size': '1Gi',
      'ingress.enabled': true,
      toolsImage: imageName('tools'),
      'resources.requests': { cpu: '10m', memory: '64Mi' },
      settings: {
        QUAYSIDE_ALLOW_PRIVATE_TARGETS: `${addresses.node}/32,${addresses.pods}`,
        QUAYSIDE_INSECURE_REGISTRIES: `${registry.place},${source.place}`,
        QUAYSIDE_RATE_LIMIT: 0,
      },
    },
  }
}

/** Publishes the image of the server in the registry of the test cluster, as operators do it. */
async function publishServer(): Promise<string> {
  const place = `localhost:${ports.registry}/quayside-chart-test`
  const args = [join(root, 'bootstrap', 'image.mjs'), 'server', '--push', place]
  const printed = await must(process.execPath, args, {
    cwd: root,
    timeoutMs: 240_000,
    env: { QUAYSIDE_HELM: helmProgram },
  })
  const reference = printed.trim().split('\n').at(-1) ?? ''
  if (!reference.startsWith(`${place}/server@sha256:`)) throw new Error(`no digest was printed:\n${printed}`)
  return reference
}

/** Removes what the platform has created on the cluster, by the commands of docs/kubernetes.md. */
async function removeServices(sql: Database): Promise<void> {
  const found = await sql<{ instance: string; id: string }[]>`
    select setting.value#>>'{}' as instance, cluster.id from setting, cluster where key = 'instance'`.catch(() => [])
  for (const { instance, id } of found) {
    await kubectl(['delete', 'namespace', '--selector', `quayside.io/instance=${instance}-${id.slice(-12)}`], {
      timeoutMs: 120_000,
    })
  }
}
