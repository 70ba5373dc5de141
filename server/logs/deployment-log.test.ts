import assert from 'node:assert/strict'
import { test } from 'node:test'
import { masker } from '../lib/masker.ts'
import { Secret } from '../lib/secret.ts'
import { type DeploymentReporter, deploymentSink, readDeploymentLog } from './deployment-log.ts'
import { openStore, temporaryDirectory } from './test-support.ts'

const reporter: DeploymentReporter = {
  executionId: 'execution-1',
  serviceId: 'service-1',
  serviceName: 'shop',
  kind: 'Application',
  step: () => 'Build',
}

test('stores the reports of each step of a deployment, with level, step and transmitter', async (t) => {
  const store = openStore(t, await temporaryDirectory(t))
  let step = 'Build'
  const sink = deploymentSink(store, { ...reporter, step: () => step })
  const environment = { ...reporter, serviceId: 'environment-1', serviceName: 'production', kind: 'Environment' }
  sink.line('Step 1/2 : FROM scratch')
  step = 'Deploy'
  sink.line('one\r\ntwo\n', 'error')
  deploymentSink(store, { ...environment, step: () => 'Terminated' }).line('done', 'warning')
  const lines = await readDeploymentLog(store, 'execution-1')
  const transmitter = { id: 'service-1', name: 'shop', type: 'Application' }
  assert.deepEqual(
    lines.map(({ at, ...line }) => ({ ...line, isTime: !Number.isNaN(Date.parse(at)) })),
    [
      { seq: 1, level: 'info', transmitter, step: 'Build', text: 'Step 1/2 : FROM scratch', isTime: true },
      { seq: 2, level: 'error', transmitter, step: 'Deploy', text: 'one', isTime: true },
      { seq: 3, level: 'error', transmitter, step: 'Deploy', text: 'two', isTime: true },
      {
        seq: 4,
        level: 'warning',
        transmitter: { id: 'environment-1', name: 'production', type: 'Environment' },
        step: 'Terminated',
        text: 'done',
        isTime: true,
      },
    ],
  )
  assert.deepEqual(await readDeploymentLog(store, 'execution-2'), [])
})

test('hides secrets: plain, base64 and URL-encoded, and across lines', async (t) => {
  const store = openStore(t, await temporaryDirectory(t))
  const secret = 'p@ss word/hunter22'
  const key = 'first half of the key\nsecond half of it'
  const sink = deploymentSink(store, { ...reporter, mask: masker([new Secret(secret), new Secret(key)]) })
  const forms = [secret, Buffer.from(secret).toString('base64'), encodeURIComponent(secret), key, ...key.split('\n')]
  for (const form of forms) sink.line(`the secret is ${form}.`)
  const text = JSON.stringify(await readDeploymentLog(store, 'execution-1'))
  for (const form of forms.flatMap((each) => each.split('\n'))) assert.ok(!text.includes(form), form)
  assert.match(text, /the secret is \*\*\*\*\*\*/)
})

test('reports how many lines are left out', async (t) => {
  const store = openStore(t, await temporaryDirectory(t))
  const sink = deploymentSink(store, reporter)
  for (let index = 1; index <= 10; index++) sink.line(String(index))
  const lines = await readDeploymentLog(store, 'execution-1', 3)
  assert.deepEqual(
    lines.map((line) => line.seq),
    [7, 8, 9, 10],
  )
  assert.equal(lines[0]?.level, 'warning')
  assert.equal(lines[0]?.transmitter, undefined)
})
