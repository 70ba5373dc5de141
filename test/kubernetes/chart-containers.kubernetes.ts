import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeEnvironment } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { openSocket } from '../support/streams.ts'
import { until } from '../support/until.ts'
import { imageName } from './cluster/build.ts'
import { addDeployedCluster, clusterSettings } from './support/add-cluster.ts'
import { makeChart, type TestChart } from './support/charts.ts'
import { helmProgram } from './support/helm.ts'

// Lines and shells of pods with several containers.

const pods = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: several}
spec:
  selector: {matchLabels: {app: several}}
  template:
    metadata: {labels: {app: several}}
    spec:
      terminationGracePeriodSeconds: 1
      initContainers:
        - {name: prepare, image: "${imageName('tools')}", command: [sh, -c, "echo prepared hunter2hunter2"]}
      containers:
        - name: first
          image: "${imageName('tools')}"
          command: [sh, -c, "echo one; sleep 1000000"]
          env: [{name: WHICH, value: in the first}]
        - name: second
          image: "${imageName('tools')}"
          command: [sh, -c, "echo two; sleep 1000000"]
          env: [{name: WHICH, value: in the second}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: before, annotations: {helm.sh/hook: pre-install, helm.sh/hook-delete-policy: before-hook-creation}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: hook, image: "${imageName('tools')}", command: [echo, of the hook]}]
`

let server: ServerProcess
let chart: TestChart
let environmentId: string
let scope: string

before(async () => {
  const env = { ...clusterSettings('chart-containers'), QUAYSIDE_HELM: helmProgram }
  server = await startServer({ env })
  const cluster = await addDeployedCluster(server, 'containers')
  environmentId = await makeEnvironment(server, 'containers', cluster.id)
  const { project } = await server.must<{ project: { id: string } }>('GET', `/environment/${environmentId}`)
  chart = await makeChart(server, { environmentId, name: 'several' })
  scope = new URLSearchParams({
    ...{ organization: server.organizationId, cluster: cluster.id },
    ...{ project: project.id, environment: environmentId, service: chart.id },
  }).toString()
  const secret = { key: 'PASSWORD', value: 'hunter2hunter2', is_secret: true }
  await server.must('POST', '/variable', { ...secret, variable_scope: 'HELM', variable_parent_id: chart.id })
  await chart.git.push({
    'chart/Chart.yaml': 'apiVersion: v2\nname: several\nversion: 1.0.0\n',
    'chart/templates/pods.yaml': pods,
  })
  assert.deepEqual(await chart.run(), { state: 'DEPLOYED', reason: null }, await chart.lines())
})
after(async () => {
  await server.must('DELETE', `/environment/${environmentId}`)
  await until('it is gone', async () => (await server.api('GET', `/environment/${environmentId}`)).status === 404)
  await server.close()
})

interface Line {
  readonly container_name: string
  readonly message: string
}
const isLine = (value: unknown): value is Line => typeof Object(value).container_name === 'string'
const open = (path: string, more: Record<string, string>) =>
  openSocket(server.apiUrl, `${path}?${scope}&${new URLSearchParams(more)}`, { token: server.token })

test('the lines of every container have its name, init containers and hooks included', async () => {
  const stream = open('/service/logs', {})
  const words = () =>
    stream.messages
      .flat()
      .filter(isLine)
      .map(({ container_name, message }) => `${container_name}: ${message}`)
      .sort()
  const wanted = ['first: one', 'hook: of the hook', 'prepare: prepared ******', 'second: two']
  await until('all lines are sent', () => words().join() === wanted.join(), { seen: words })
  stream.socket.close()
})

test('lines are stored once, also after a restart of the server', async () => {
  const before = (await chart.stored()).split('\n').length
  await server.restart({ env: { ...clusterSettings('chart-containers'), QUAYSIDE_HELM: helmProgram } })
  await chart.deploy()
  assert.equal((await chart.settles()).state, 'DEPLOYED')
  assert.equal((await chart.stored()).split('\n').length, before)
})

test('a shell begins in the container that it names', async () => {
  for (const container of ['first', 'second']) {
    const target = `/shell/exec?${scope}&container_name=${container}&tty_width=0&tty_height=0&command=sh`
    const command = `&command=-c&command=${encodeURIComponent('echo $WHICH')}`
    const shell = openSocket(server.apiUrl, target + command, { token: server.token })
    await until('it answers', () => shell.bytes() === `in the ${container}\n`, { seen: shell.bytes })
    await shell.ended
  }
  const missing = open('/shell/exec', { container_name: 'third', tty_width: '0', tty_height: '0' })
  const { reason } = await missing.ended
  assert.match(reason, /no replica of the service with the container third is running/)
})
