import type { Attempt } from '../../../lib/attempt.ts'
import {
  type ChartPlace,
  type ChartRelease,
  type ChartRunner,
  type ChartService,
  EngineError,
  type Finding,
  type RenderedObject,
} from '../../engine.ts'
import { kinds } from '../client/index.ts'
import { asEngineErrors } from '../engine-errors.ts'
import { ensureEnvironment } from '../environments.ts'
import type { KubeHost } from '../host.ts'
import { createApiProxies } from './api-proxy.ts'
import { openAccount } from './chart-account.ts'
import { hasDeployed, readHistory } from './chart-history.ts'
import { chartLabels, helmRelease } from './chart-names.ts'
import { secretsOfChart } from './chart-secrets.ts'
import { toChartService } from './chart-service.ts'
import { readKinds } from './cluster-kinds.ts'
import { compare } from './compare.ts'
import { createHelm, type HelmSession, type HelmSettings } from './helm-program.ts'
import { installChart } from './install-chart.ts'
import { readInstalled } from './installed-objects.ts'
import { labelled } from './own-chart.ts'
import { removeChart } from './remove-chart.ts'
import { renderChart } from './render-chart.ts'
import { putRight } from './restore-chart.ts'
import { endPrograms } from './scale-chart.ts'

export interface KubernetesCharts extends ChartRunner {
  /** Returns which program installs charts, or how to get one. */
  findProgram(signal: AbortSignal): Promise<Finding>
}

/** One call of the program, with the objects that it is to install. */
interface Call {
  readonly place: ChartPlace
  readonly objects?: readonly RenderedObject[]
  readonly keepsVolumes?: boolean
}

/** Runs charts on one cluster with the program `helm`. */
export function createKubernetesCharts(host: KubeHost, settings: HelmSettings): KubernetesCharts {
  const helm = createHelm(settings)
  const proxies = createApiProxies(host.kube)
  /** Runs `work` with the rights of the environment's account, or with those of the platform. */
  const within = <T>(
    { place, objects = [], keepsVolumes = false }: Call,
    signal: AbortSignal,
    work: (session: HelmSession) => Promise<T>,
  ): Promise<T> =>
    asEngineErrors(async () => {
      await Promise.all([helm.check(signal), ensureEnvironment(host, place.environment, signal)])
      const secrets = place.isClusterWide ? [] : await secretsOfChart(host, place, objects, signal)
      await using account = place.isClusterWide ? undefined : await openAccount(host, place, secrets, signal)
      const release = helmRelease(place)
      await using proxy = await proxies.open({ token: account?.token, release, keepsVolumes })
      await using session = await helm.open(proxy, release.namespace)
      return await work(session)
    })

  return {
    findProgram: async (signal) => {
      try {
        return { message: `Helm ${await helm.version(signal)} installs charts here.`, isBlocking: false }
      } catch (error) {
        if (!(error instanceof EngineError)) throw error
        return { message: `Helm charts cannot be deployed: ${error.message}.`, isBlocking: false }
      }
    },

    render: (release: ChartRelease, { signal }: Attempt): Promise<readonly RenderedObject[]> =>
      within({ place: release }, signal, async (session) => {
        const [known, history] = await Promise.all([readKinds(host.kube, signal), readHistory(host, release, signal)])
        return renderChart(session, release, { kinds: known, isUpgrade: hasDeployed(history) }, signal)
      }),

    diff: (release, objects, { signal }) =>
      within({ place: release }, signal, async (session) => {
        const { name, namespace } = helmRelease(release)
        const wanted = objects.filter(({ kind }) => kind !== 'CustomResourceDefinition')
        const labelledObjects = wanted.map((object) => labelled(release, object, host.instance))
        return compare({ before: await readInstalled(session, name, signal), after: labelledObjects, home: namespace })
      }),

    install: (release, objects, attempt) =>
      within({ place: release, objects }, attempt.signal, (session) =>
        installChart(host, session, { release, objects }, attempt),
      ),

    restore: (place, failed, attempt) =>
      within({ place }, attempt.signal, async (session) => {
        const history = await readHistory(host, place, attempt.signal)
        await putRight(session, place, { history, failed }, attempt)
      }),

    scaleToZero: (place, { signal }) => asEngineErrors(() => endPrograms(host, place, signal)),

    uninstall: (place, keepsVolumes, attempt) =>
      asEngineErrors(async () => {
        const namespace = await host.kube.get(kinds.namespace, { name: helmRelease(place).namespace }, attempt.signal)
        if (!namespace) return
        await within({ place, keepsVolumes }, attempt.signal, (session) =>
          removeChart(host, session, { place, keepsVolumes }, attempt),
        )
      }),

    listServices: (place, signal) => asEngineErrors(() => listServices(host, place, signal)),
  }
}

async function listServices(host: KubeHost, place: ChartPlace, signal: AbortSignal): Promise<ChartService[]> {
  const selection = { namespace: helmRelease(place).namespace, labels: chartLabels(place, host.instance) }
  const { items } = await host.kube.list(kinds.service, selection, signal)
  return items.map(({ metadata, spec }) => toChartService(metadata.name, spec))
}
