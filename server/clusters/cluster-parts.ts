import type { Abilities } from '@quayside/contract/services/capabilities.ts'
import { clusterSettings, tlsSettings } from '@quayside/contract/services/cluster-settings.ts'
import { refusedSettings } from '@quayside/contract/services/refused-settings.ts'
import {
  effectiveSettings,
  type SettingValues,
  settingDefaults,
  settingsProblem,
} from '@quayside/contract/services/setting-table.ts'
import { stringify } from 'yaml'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import type { Vault } from '../vault/index.ts'
import { type ClusterRow, countEnvironments, findCluster, lockCluster, type RouteEntry } from './cluster-store.ts'
import { existing } from './clusters.ts'
import { checkedDns, type DnsBody } from './dns.ts'
import { isBuiltIn, reachingEngine } from './engine-name.ts'
import { type InCluster, inClusterMark } from './in-cluster.ts'
import { readAccess } from './kubeconfig.ts'
import {
  kubeconfigCell,
  listEnvironmentsOf,
  updateAdvanced,
  updateDns,
  updateKubeconfig,
  updateRoutes,
} from './part-store.ts'

export interface ClusterPartsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly vault: Vault
  /** The domain of the services of the built-in cluster. */
  readonly domain: string
  /** Returns the capabilities of an engine. Undefined for a cluster without an engine. */
  readonly ableOf: (engine: string | null) => Abilities | undefined
  /** Whether the server may connect to this host, without asking for its addresses. */
  readonly allowsHost: (host: string) => boolean
  /** The cluster that needs no kubeconfig. Undefined: there is none. */
  readonly inCluster: InCluster | undefined
}

const cell = (row: string, column: string) => ({ table: 'cluster', row, column })

/** The parts of a cluster that are stored beside its record. */
export function createClusterParts({
  database,
  clock,
  vault,
  domain,
  ableOf,
  allowsHost,
  inCluster,
}: ClusterPartsOptions) {
  const find = async (organizationId: string, id: string) =>
    existing(await findCluster(database, organizationId, id), id)
  /** Changes a cluster that is locked against other changes meanwhile. */
  const change = <T>(organizationId: string, id: string, work: (sql: Sql, row: ClusterRow) => Promise<T>): Promise<T> =>
    inTransaction(database, async (sql) => work(sql, existing(await lockCluster(sql, organizationId, id), id)))

  return {
    defaultSettings: () => settingDefaults(clusterSettings),
    async advancedSettings(organizationId: string, id: string) {
      return effectiveSettings(clusterSettings, (await find(organizationId, id)).advanced_settings)
    },
    setAdvancedSettings: (organizationId: string, id: string, values: Readonly<Record<string, unknown>>) =>
      change(organizationId, id, async (sql, row) => {
        checkSettings(row, values, ableOf(reachingEngine(row)))
        await updateAdvanced(sql, id, values, clock.now())
        return effectiveSettings(clusterSettings, values)
      }),

    async routes(organizationId: string, id: string) {
      return (await find(organizationId, id)).routes
    },
    setRoutes: (organizationId: string, id: string, routes: readonly RouteEntry[]) =>
      change(organizationId, id, async (sql) => {
        await updateRoutes(sql, id, routes, clock.now())
        return routes
      }),

    /** Returns it unchanged. The user who stored it decided whose rights it contains. */
    async kubeconfig(organizationId: string, id: string, readOnly: boolean): Promise<string> {
      const row = await find(organizationId, id)
      checkKubernetes(row)
      refuseInCluster(row, inCluster)
      if (readOnly) throw new AppError('invalid', 'read_only: this platform cannot take rights away from a kubeconfig.')
      const sealed = row.sealed_kubeconfig
      const text = sealed && (await vault.open(database, organizationId, kubeconfigCell(id), sealed)).reveal()
      if (text && text !== inClusterMark) return text
      throw new AppError('invalid', `Cluster "${row.name}" has no kubeconfig yet. PUT one first.`)
    },
    async setKubeconfig(organizationId: string, id: string, text: string) {
      const before = await find(organizationId, id)
      checkKubernetes(before)
      refuseInCluster(before, inCluster)
      await readAccess(text, allowsHost)
      await change(organizationId, id, async (sql, row) => {
        checkKubernetes(row)
        const sealed = await vault.seal(sql, organizationId, kubeconfigCell(id), text)
        await updateKubeconfig(sql, id, sealed, clock.now())
      })
    },

    async helmValues(organizationId: string, id: string): Promise<string> {
      const row = await find(organizationId, id)
      const { name, region, cloud_provider, kubernetes, settings, advanced_settings } = row
      return stringify({
        platform: {
          organizationId,
          clusterId: id,
          clusterName: name,
          cloudProvider: cloud_provider,
          region,
          kubernetes,
        },
        charts: settings.infrastructure_charts_parameters ?? {},
        ...(Object.keys(advanced_settings).length > 0 ? { advancedSettings: advanced_settings } : {}),
      })
    },

    dnsProvider: (row: ClusterRow) => ({ dns_provider: row.dns_provider ?? { provider: 'QOVERY' as const, domain } }),
    setDnsProvider: (cluster: ClusterRow, body: DnsBody) =>
      change(cluster.organization_id, cluster.id, async (sql, row) => {
        const own = isBuiltIn(row) ? domain : undefined
        const place = cell(row.id, 'sealed_dns_secrets')
        const former = row.sealed_dns_secrets
          ? (await vault.open(sql, row.organization_id, place, row.sealed_dns_secrets)).reveal()
          : undefined
        const { settings, secret } = checkedDns(body, row.dns_provider, former, own)
        const sealed = secret === undefined ? null : await vault.seal(sql, row.organization_id, place, secret)
        // The domain of the platform is that of a cluster without one.
        const kept = isBuiltIn(row) || settings.provider !== 'QOVERY' || settings.domain !== domain ? settings : null
        if (kept === null) refuseCertificates(row)
        await checkDomainChange(sql, row, kept?.domain)
        await updateDns(sql, row.id, { settings: kept, sealed }, clock.now())
        return { dns_provider: settings }
      }),

    environments: (row: ClusterRow) => listEnvironmentsOf(database, row.id),
  }
}

/**
 * Throws 400 for settings without an effect. Settings of a cluster without an engine are passed on
 * in its Helm values, so any setting may have an effect there.
 */
function checkSettings(row: ClusterRow, sent: SettingValues, able: Abilities | undefined): void {
  const problem = settingsProblem(sent)
  if (problem) throw new AppError('invalid', `${problem}.`)
  const { advanced_settings } = row
  if (reachingEngine(row) === null) return
  const place = { table: clusterSettings, able, listed: 'GET /defaultClusterAdvancedSettings' }
  const refused = refusedSettings(sent, advanced_settings, place)
  if (refused.length > 0) throw new AppError('invalid', refused.join(' '))
  const tls = tlsSettings.find((key) => sent[key] && sent[key] !== advanced_settings[key])
  if (tls !== undefined && row.dns_provider === null) {
    const message = `${tls} needs a domain of the cluster: PUT /cluster/${row.id}/dnsProvider first.`
    throw new AppError('invalid', message)
  }
}

/** Throws 409 if services on a connected cluster have names of another domain. */
async function checkDomainChange(sql: Sql, { id, name, ...row }: ClusterRow, domain: string | undefined) {
  if (row.sealed_kubeconfig === null || row.dns_provider?.domain === domain) return
  if ((await countEnvironments(sql, id)) === 0) return
  throw new AppError(
    'conflict',
    `Cluster "${name}" has environments, whose services keep their names. Delete them before the domain changes.`,
  )
}

/** Throws 409 if settings of the cluster name certificates for its domain. */
function refuseCertificates({ name, advanced_settings, dns_provider }: ClusterRow): void {
  const key = tlsSettings.find((one) => advanced_settings[one])
  if (dns_provider === null || key === undefined) return
  throw new AppError('conflict', `Cluster "${name}" has certificates for its domain. Remove its setting ${key} first.`)
}

function refuseInCluster({ id, name }: ClusterRow, inCluster: InCluster | undefined): void {
  if (inCluster?.clusterId !== id) return
  throw new AppError(
    'conflict',
    `Cluster "${name}" is reached by the service account of the server, so it has no kubeconfig. The operator can ` +
      'change that (QUAYSIDE_IN_CLUSTER_ID).',
  )
}

function checkKubernetes(row: ClusterRow): void {
  if (!isBuiltIn(row)) return
  const { name } = row
  throw new AppError('invalid', `Cluster "${name}" does not run Kubernetes, so it has no kubeconfig.`)
}
