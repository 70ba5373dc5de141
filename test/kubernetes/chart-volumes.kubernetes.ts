import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { makeEnvironment } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'
import { imageName } from './cluster/build.ts'
import { kubectl } from './cluster/commands.ts'
import { helm4Cache } from './cluster/settings.ts'
import { openKube } from './support/access.ts'
import { addDeployedCluster, clusterSettings } from './support/add-cluster.ts'
import { makeChart, smallChart, type TestChart } from './support/charts.ts'
import { helmProgram } from './support/helm.ts'

// The end of a chart with and without its volumes. Tests of one version build on each other.

const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)
after(() => kube.close())

const pod = `
      terminationGracePeriodSeconds: 1
      containers:
        - name: a
          image: ${imageName('tools')}
          command: [sh, -c, "test -e /data/word || echo $RANDOM$RANDOM$RANDOM > /data/word; sleep 1000000"]
          readinessProbe: {exec: {command: [test, -s, /data/word]}, periodSeconds: 1}
          volumeMounts: [{name: data, mountPath: /data}]`
const claim = 'accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}'
/** Kubernetes deletes the claims of `deleting` with it. */
const statefulSet = (name: string, more = ''): string => `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: ${name}}
spec:
  serviceName: ${name}${more}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:${pod}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {${claim}}}]
---`
const ownClaim = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: own}
spec: {${claim}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: user}
spec:
  strategy: {type: Recreate}
  selector: {matchLabels: {app: user}}
  template:
    metadata: {labels: {app: user}}
    spec:${pod}
      volumes: [{name: data, persistentVolumeClaim: {claimName: own}}]
`
const deleting = '\n  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Retain}'
const keepers = smallChart({
  'chart/templates/sets.yaml': `${statefulSet('keeper')}${statefulSet('deleting', deleting)}${ownClaim}`,
})
const claims = ['data-deleting-0', 'data-keeper-0', 'own']

for (const { version, program } of [
  { version: 'helm3', program: helmProgram },
  { version: 'helm4', program: join(helm4Cache, 'helm') },
]) {
  describe(version, () => {
    let server: ServerProcess
    let environmentId: string
    let namespace: string
    let chart: TestChart
    const words = () =>
      Promise.all(
        ['keeper-0', 'deleting-0', 'deployment/user'].map((name) =>
          kubectl(['-n', namespace, 'exec', name, '--', 'cat', '/data/word']),
        ),
      )
    const claimsOf = async () =>
      (await kube.list(kinds.volumeClaim, { namespace }, limit())).items
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => metadata.name)
        .sort()
    const podsOf = async () => (await kube.list(kinds.pod, { namespace }, limit())).items
    const uninstall = async (query = '') => {
      await server.must('POST', `/helm/${chart.id}/uninstall${query}`, {})
      assert.equal((await chart.settles()).state, 'DELETED')
    }
    const isGone = (path: string) => until('it is gone', async () => (await server.api('GET', path)).status === 404)
    const succeeds = async () =>
      assert.deepEqual(await chart.run(), { state: 'DEPLOYED', reason: null }, await chart.lines())

    before(async () => {
      server = await startServer({ env: { ...clusterSettings(`volumes-${version}`), QUAYSIDE_HELM: program } })
      const cluster = await addDeployedCluster(server, `volumes-${version}`)
      environmentId = await makeEnvironment(server, 'volumes', cluster.id)
      namespace = `quayside-${environmentId}`
      chart = await makeChart(server, { environmentId, name: 'keepers', settings: { timeout_sec: 120 } })
      await chart.git.push(keepers)
    })
    after(async () => {
      await server.must('DELETE', `/environment/${environmentId}`)
      await isGone(`/environment/${environmentId}`)
      // The server removes the namespace of an environment without services later.
      await kubectl(['delete', 'namespace', namespace, '--ignore-not-found', '--wait=false'])
      await server.close()
    })

    test('a new deployment finds the volumes that the uninstallation kept', async () => {
      await succeeds()
      const before = await words()
      await uninstall('?keep_volumes=true')
      assert.deepEqual(await claimsOf(), claims)
      assert.deepEqual(await podsOf(), [])
      assert.match(await chart.lines(), /Its volumes stay on the cluster, as requested/)
      await succeeds()
      assert.deepEqual(await words(), before)
    })

    test('a chart of which only volumes are left is not seen as running', async () => {
      await uninstall('?keep_volumes=true')
      const found = await until('it was observed', async () => {
        const [row] = await server.sql`select state from observation where service_id = ${chart.id}`
        return row?.['state'] === 'running' ? undefined : [row?.['state']]
      })
      assert.notDeepEqual(found, ['failing'])
    })

    test('a deletion removes volumes that an uninstallation kept', async () => {
      assert.deepEqual(await claimsOf(), claims)
      await server.must('DELETE', `/helm/${chart.id}`)
      await isGone(`/helm/${chart.id}`)
      await until('the claims are gone', async () => (await claimsOf()).length === 0, { seen: claimsOf })
    })

    test('an uninstallation removes volumes unless it is asked to keep them', async () => {
      chart = await makeChart(server, { environmentId, name: 'again', settings: { timeout_sec: 120 } })
      await chart.git.push(keepers)
      await succeeds()
      await uninstall()
      await until('the claims are gone', async () => (await claimsOf()).length === 0, { seen: claimsOf })
    })

    test('a deletion that keeps volumes leaves nothing else', async () => {
      await succeeds()
      await server.must('DELETE', `/helm/${chart.id}?keep_volumes=true`)
      await isGone(`/helm/${chart.id}`)
      assert.deepEqual(await claimsOf(), claims)
      assert.deepEqual(await podsOf(), [])
      await kubectl(['-n', namespace, 'delete', 'pvc', '--all'])
    })
  })
}
