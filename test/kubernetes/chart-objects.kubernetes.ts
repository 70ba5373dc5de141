import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { label } from '../../server/engines/kubernetes/labels.ts'
import { makeEnvironment } from '../support/application.ts'
import type { Tree } from '../support/git-remote.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'
import { imageName } from './cluster/build.ts'
import { kubectl, tryTo } from './cluster/commands.ts'
import { helm4Cache } from './cluster/settings.ts'
import { openKube } from './support/access.ts'
import { type AddedCluster, addDeployedCluster, clusterSettings } from './support/add-cluster.ts'
import { configMap, makeChart, smallChart, type TestChart } from './support/charts.ts'
import { helm, helmProgram } from './support/helm.ts'

// All kinds of objects of charts, with both versions of Helm. Tests of one build on each other.

const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)
after(() => kube.close())
const image = imageName('tools')
const pod = (command: string) =>
  `terminationGracePeriodSeconds: 1, containers: [{name: a, image: "${image}", command: [sh, -c, "${command}"]`

const job = (command: string): string => `
apiVersion: batch/v1
kind: Job
metadata: {name: work}
spec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, ${pod(command)}}]}}}
`
const writing = 'test -e /data/word || echo $RANDOM$RANDOM > /data/word'
const withVolume = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: keeper}
spec:
  serviceName: keeper
  selector: {matchLabels: {app: keeper}}
  template:
    metadata: {labels: {app: keeper}}
    spec: {${pod(`${writing}; sleep 1000000`)}, volumeMounts: [{name: data, mountPath: /data}]}]}
  volumeClaimTemplates:
    - {metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: everywhere}
spec:
  selector: {matchLabels: {app: everywhere}}
  template:
    metadata: {labels: {app: everywhere}}
    spec: {${pod('sleep 1000000')}}]}
`
const crd = (group: string): string => `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.${group}}
spec:
  group: ${group}
  scope: Namespaced
  names: {kind: Thing, plural: things, singular: thing}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`

for (const { version, program } of [
  { version: 'Helm 3', program: helmProgram },
  { version: 'Helm 4', program: join(helm4Cache, 'helm') },
]) {
  describe(version, () => {
    let server: ServerProcess
    let cluster: AddedCluster
    let environmentId: string
    let namespace: string
    let chart: TestChart
    const folder = version.toLowerCase().replace(' ', '')
    const made = async (name: string, tree: Tree, settings: object = {}): Promise<TestChart> => {
      const found = await makeChart(server, { environmentId, name: `${folder}-${name}`, settings })
      await found.git.push(smallChart(tree))
      return found
    }
    const succeeds = async (one: TestChart) =>
      assert.deepEqual(await one.run(), { state: 'DEPLOYED', reason: null }, await one.lines())
    const observed = async ({ id }: TestChart) =>
      (await server.sql`select state, reason from observation where service_id = ${id}`)[0]
    const isSeen = (one: TestChart, state: string, reason: RegExp = /^$/) =>
      until(
        `it is seen ${state}`,
        async () => {
          const found = await observed(one)
          return found?.['state'] === state && reason.test(String(found['reason'] ?? ''))
        },
        { seen: () => [one.id, state] },
      )
    const podsOf = async ({ id }: TestChart) =>
      (await kube.list(kinds.pod, { labels: { [label.service]: id } }, limit())).items

    before(async () => {
      server = await startServer({ env: { ...clusterSettings(folder), QUAYSIDE_HELM: program } })
      cluster = await addDeployedCluster(server, folder)
      environmentId = await makeEnvironment(server, folder, cluster.id)
      namespace = `quayside-${environmentId}`
    })
    after(async () => {
      await server.must('DELETE', `/environment/${environmentId}`)
      await until('it is gone', async () => (await server.api('GET', `/environment/${environmentId}`)).status === 404)
      await server.close()
    })

    test('the check of a cluster names the program', async () => {
      const { lines } = await cluster.deploy()
      assert.match(
        lines,
        version === 'Helm 3' ? /Helm v3\.\S+ installs charts here/ : /Helm v4\.\S+ installs charts here/,
      )
    })

    test('a chart without pods runs while its objects exist, and no longer when they are gone', async () => {
      chart = await made('small', {})
      await succeeds(chart)
      await isSeen(chart, 'running')
      await helm(['uninstall', `chart-${chart.id.slice(-12)}`, '--namespace', namespace])
      await isSeen(chart, 'stopped', /its objects are no longer on the cluster/)
      await succeeds(chart)
      await isSeen(chart, 'running')
    })

    test('a Service without an address is not ready yet', async () => {
      const spec = '{selector: {app: web}, ports: [{port: 80}]}'
      const web = `apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: ${spec}\n`
      await chart.git.push(smallChart({ 'chart/templates/web.yaml': web }))
      await succeeds(chart)
      await isSeen(chart, 'running')
      await kubectl(['-n', namespace, 'patch', 'service', 'web', '-p', '{"spec":{"type":"LoadBalancer"}}'])
      await isSeen(chart, 'starting', /Service web has no address of a load balancer yet/)
    })

    test('a Job is complete, or its failure is the reason', async () => {
      const good = await made('good', { 'chart/templates/job.yaml': job('true') }, { arguments: ['--wait-for-jobs'] })
      await succeeds(good)
      await isSeen(good, 'running')
      const bad = await made('bad', { 'chart/templates/job.yaml': job('exit 3').replace('work', 'other') })
      await bad.deploy()
      await bad.settles()
      await isSeen(bad, 'failing', /Job other failed|exited with code 3/)
    })

    test('a StatefulSet and a DaemonSet stop, and start again with the same volume', async () => {
      chart = await made('sets', { 'chart/templates/sets.yaml': withVolume })
      await succeeds(chart)
      const word = async () => (await kubectl(['-n', namespace, 'exec', 'keeper-0', '--', 'cat', '/data/word'])).trim()
      const before = await word()
      assert.notEqual(before, '')
      await server.must('POST', `/helm/${chart.id}/stop`, {})
      assert.equal((await chart.settles()).state, 'STOPPED')
      assert.deepEqual(await podsOf(chart), [])
      await succeeds(chart)
      assert.equal((await podsOf(chart)).length, 2)
      assert.equal(await word(), before)
    })

    test('tests of a chart are not installed, and NOTES are not printed', async () => {
      const more = {
        'chart/templates/test.yaml': `apiVersion: v1
kind: Pod
metadata: {name: asking, annotations: {helm.sh/hook: test}}
spec: {restartPolicy: Never, ${pod('exit 1')}}]}
`,
        'chart/templates/NOTES.txt': 'The word is {{ .Values.text }}.\n',
      }
      chart = await made('tested', more)
      await chart.set([['text', 'sesame-sesame']])
      await succeeds(chart)
      assert.deepEqual(await podsOf(chart), [])
      assert.doesNotMatch(await chart.lines(), /sesame/)
    })

    test('objects of the whole cluster are installed if that is allowed, and removed with the chart', async () => {
      const role = `quayside-test-${folder}`
      const more = {
        'chart/crds/things.yaml': crd(`${folder}.test`),
        'chart/templates/role.yaml': `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: ${role}}
rules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]
`,
        'chart/templates/thing.yaml': `apiVersion: ${folder}.test/v1\nkind: Thing\nmetadata: {name: first}\n`,
      }
      chart = await made('wide', more, { allow_cluster_wide_resources: true })
      const has = async (what: string, name: string) => (await tryTo('kubectl', ['get', what, name])).exitCode === 0
      await succeeds(chart)
      assert.ok(await has('clusterrole', role))
      await kubectl(['-n', namespace, 'get', `things.${folder}.test`, 'first'])
      await server.must('DELETE', `/helm/${chart.id}`)
      await until('it is gone', async () => (await server.api('GET', `/helm/${chart.id}`)).status === 404)
      assert.equal(await has('clusterrole', role), false)
      // Helm never removes CRDs: all objects of their kind would go with them.
      assert.ok(await has('crd', `things.${folder}.test`))
      await kubectl(['delete', 'crd', `things.${folder}.test`])
    })

    test('an upgrade installs a kind with an object of it, unless templates look up objects', async () => {
      const group = `later-${folder}.test`
      chart = await made('later', {}, { allow_cluster_wide_resources: true })
      await succeeds(chart)
      const more = {
        'chart/crds/things.yaml': crd(group),
        'chart/templates/thing.yaml': `apiVersion: ${group}/v1\nkind: Thing\nmetadata: {name: later}\n`,
      }
      if (version === 'Helm 4') {
        const looking = configMap('looking', '{{ len (lookup "v1" "Pod" .Release.Namespace "") | quote }}')
        await chart.git.push(smallChart({ ...more, 'chart/templates/looking.yaml': looking }))
        assert.match((await chart.run()).reason, /install its CustomResourceDefinitions by another chart first/)
      }
      await chart.git.push(smallChart(more))
      await succeeds(chart)
      await kubectl(['-n', namespace, 'get', `things.${group}`, 'later'])
      await kubectl(['delete', 'crd', `things.${group}`])
    })

    test('a chart whose kind the cluster no longer has is deleted with its other objects', async () => {
      await server.must('DELETE', `/helm/${chart.id}`)
      await until('it is gone', async () => (await server.api('GET', `/helm/${chart.id}`)).status === 404)
      const left = await kube.list(kinds.configMap, { labels: { [label.service]: chart.id } }, limit())
      assert.deepEqual(left.items, [])
      const records = { namespace, labels: { owner: 'helm', name: `chart-${chart.id.slice(-12)}` } }
      assert.deepEqual((await kube.list(kinds.secret, records, limit())).items, [])
    })

    test('a failed upgrade restores the objects of the previous version', async () => {
      chart = await made('upgraded', { 'chart/templates/a.yaml': configMap('kept', 'before') }, { timeout_sec: 5 })
      await succeeds(chart)
      const broken = `apiVersion: v1\nkind: Pod\nmetadata: {name: broken}\nspec: {${pod('exit 1')}}]}\n`
      const next = { 'chart/templates/a.yaml': configMap('kept', 'after'), 'chart/templates/b.yaml': broken }
      await chart.git.push(smallChart(next))
      assert.equal((await chart.run()).state, 'DEPLOYMENT_ERROR')
      const found: unknown = await kube.get(kinds.configMap, { namespace, name: 'kept' }, limit())
      assert.equal(Object(Object(found).data).text, 'before')
    })
  })
}
