import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock as clock } from '../server/lib/clock.ts'
import { run } from '../server/lib/run.ts'
import { imageName } from '../test/kubernetes/cluster/build.ts'
import { kubectl } from '../test/kubernetes/cluster/commands.ts'
import { helmCache, kubeconfig } from '../test/kubernetes/cluster/settings.ts'
import { type AddedCluster, clusterSettings } from '../test/kubernetes/support/add-cluster.ts'
import { openGitRemote } from '../test/support/git-remote.ts'
import { connectCluster, removeFrom } from './cluster.ts'
import { atMost, type Benchmark, relative, type Session } from './figure.ts'
import { followDeployment } from './following.ts'
import { createInstallation, type Installation, root } from './installation.ts'
import { paired } from './paired.ts'

const rounds = 9
const helm = join(helmCache, 'helm')
const chart = join(root, 'examples', 'greetings', 'chart')
/** A greeting is changed in each round, which replaces both pods of the chart. */
const valuesOf = (greeting: string): [string, string][] => [
  ['image', imageName('busybox')],
  ['greeting', greeting],
]

/**
 * Measures the deployment of a changed value of a chart on the cluster of the tests against `helm
 * upgrade --install --wait` of the same chart. Prints why it does not run if there is no such
 * cluster.
 */
export const charting: Benchmark = {
  figures: ['chart-deploy'],
  async measure(session) {
    if (!existsSync(kubeconfig) || !existsSync(helm)) {
      session.say('  not measured: start the cluster of the tests first (node test/kubernetes/cluster/main.ts start)')
      return []
    }
    const bare = await bareChart(session)
    const deploy = await ourChart(session)
    await bare()
    let count = 0
    const { deployed } = await paired(rounds, bare, async () => {
      const deployed = await deploy(`Greetings ${++count}`)
      session.say(`  deployed after ${deployed.toFixed(0)} ms`)
      return { deployed }
    })
    return [relative('chart-deploy', deployed, 'ms', atMost(1.2))]
  },
}

/** Returns a function that upgrades a release of the chart by hand, and how long that takes. */
async function bareChart({ ending }: Session): Promise<() => Promise<number>> {
  const namespace = `bench-chart-${process.pid}`
  await kubectl(['create', 'namespace', namespace])
  ending.defer(async () => void (await kubectl(['delete', 'namespace', namespace, '--wait=false'])))
  // Helm keeps a cache there.
  const home = await mkdtemp(join(tmpdir(), 'quayside-bench-helm-'))
  ending.defer(() => rm(home, { recursive: true, force: true }))
  let count = 0
  return async () => {
    const set = valuesOf(`Bare ${++count}`).flatMap(([key, value]) => ['--set-string', `${key}=${value}`])
    const place = ['--namespace', namespace, '--kubeconfig', kubeconfig]
    const startedAt = clock.monotonic()
    const { exitCode, stderr } = await run(
      helm,
      ['upgrade', 'greeter', chart, '--install', '--wait', ...place, ...set],
      { env: { HOME: home }, timeoutMs: 120_000 },
    )
    const took = clock.monotonic() - startedAt
    if (exitCode !== 0) throw new Error(`helm ended with ${exitCode}: ${stderr}`)
    return took
  }
}

/** Returns a function that deploys the chart with a greeting, and how long that takes. */
async function ourChart(session: Session): Promise<(greeting: string) => Promise<number>> {
  let cluster: AddedCluster | undefined
  session.ending.defer(async () => {
    if (cluster) await removeFrom(cluster.id)
  })
  const installation = await createInstallation(session, { ...clusterSettings('bench'), QUAYSIDE_HELM: helm })
  await installation.start()
  cluster = await connectCluster(installation, { hasDomain: false })
  const { api } = installation
  const place = await createChart(session, installation, cluster.id)
  const deploy = async (greeting: string): Promise<number> => {
    const values_override = { set: [], set_json: [], set_string: valuesOf(greeting), file: null }
    await api('PUT', `/helm/${place.service}`, { values_override })
    const { ended } = await followDeployment(installation, place)
    const startedAt = clock.monotonic()
    await api('POST', `/helm/${place.service}/deploy`, {})
    const status = await ended
    const took = clock.monotonic() - startedAt
    if (status !== 'SUCCESS')
      throw new Error(`the chart: ${(await api('GET', `/helm/${place.service}/status`)).reason}`)
    return took
  }
  await deploy('Greetings')
  return deploy
}

async function createChart({ ending }: Session, { api, port, token }: Installation, cluster: string) {
  const url = `http://localhost:${port}/git/greeter.git`
  const repository = await openGitRemote({ url, token: await token() })
  ending.defer(() => repository.remove())
  await repository.push(await treeOf(chart))
  const organization = String(Object((await listOf(api, '/organization'))[0]).id)
  const project = await api('POST', `/organization/${organization}/project`, { name: 'charts' })
  const environment = await api('POST', `/project/${project.id}/environment`, { name: 'charts', cluster })
  const { id } = await api('POST', `/environment/${environment.id}/helm`, {
    name: 'greeter',
    timeout_sec: 120,
    auto_deploy: false,
    source: { git_repository: { url, branch: 'main', root_path: '/' } },
    arguments: [],
    allow_cluster_wide_resources: false,
    values_override: { set: [], set_string: [], set_json: [] },
  })
  return { organization, environment: String(environment.id), service: String(id) }
}

async function listOf(api: Installation['api'], path: string): Promise<readonly unknown[]> {
  const { results } = await api('GET', path)
  return Array.isArray(results) ? results : []
}

async function treeOf(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const texts = await Promise.all(
    files.map(
      async (file): Promise<[string, string]> => [file.slice(directory.length + 1), await readFile(file, 'utf8')],
    ),
  )
  return Object.fromEntries(texts)
}
