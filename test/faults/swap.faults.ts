import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { containerName } from '../../server/engines/docker/labels.ts'
import { type DockerBench, node, openDockerBench } from '../../server/engines/docker/test-bench.ts'
import { importTestImage, removeTestImage } from '../../server/engines/docker/test-image.ts'
import { attempt, newRelease } from '../../server/engines/engine.cases.ts'
import { makeWeb, type TestApplication } from '../support/application.ts'
import { usualSocket } from '../support/engine-view.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { startTraffic } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { now, until } from '../support/until.ts'

// A version is healthy first and unhealthy when it should get traffic.

const times = {
  initial_delay_seconds: 0,
  period_seconds: 1,
  timeout_seconds: 5,
  success_threshold: 1,
  failure_threshold: 3,
}
const healthchecks = { readiness_probe: { type: { http: { path: '/health', port: 8080, scheme: 'HTTP' } }, ...times } }

/** A program that is healthy until a request for /sicken. */
const fragile = (version: string) => ({
  ...web(version),
  'app.js': `
    let isWell = true
    require('node:http').createServer((request, response) => {
      if (request.url === '/sicken') isWell = false
      response.statusCode = isWell ? 200 : 500
      response.end(${JSON.stringify(version)})
    }).listen(8080, () => console.log('up ' + ${JSON.stringify(version)}))
    process.on('SIGTERM', () => process.exit(0))`,
})

describe('a version of one replica', () => {
  let server: ServerProcess
  let application: TestApplication
  before(async () => {
    server = await startServer()
    application = await makeWeb(server, { healthchecks })
    await application.run(fragile('first'))
  })
  after(async () => {
    await application?.git.remove()
    await server?.close()
  })

  const isStopped = async () => / T /.test((await readFile(`/proc/${server.pid()}/stat`, 'utf8')).replace(/^.*\)/, ''))
  const containers = () => server.engine.containersWith(`quayside.service=${application.id}`)

  test('that turns unhealthy before the swap gets no traffic, and the deployment fails with the reason', {
    timeout: 240_000,
  }, async (t) => {
    const [former] = await containers()
    await application.git.push(fragile('second'))
    await server.restart({ failpoint: 'healthy.recorded:stop' })
    const traffic = startTraffic(application.url, 50)
    t.after(() => traffic.stop())
    await application.deploy()
    await until('the server is suspended before the swap', isStopped)
    const next = (await containers()).find(({ Id }) => Id !== former?.Id)
    const { NetworkSettings } = Object(await server.engine.ask('GET', `/containers/${next?.Id}/json`))
    const { IPAddress } = NetworkSettings.Networks[`quay-env-${application.environmentId}`]
    assert.equal((await fetch(`http://${IPAddress}:8080/sicken`)).status, 500)
    // A short suspension alone does not make the server check again.
    const from = now()
    await until('some seconds have passed', () => now() - from > 2500)
    server.resume()
    const { state, reason } = await application.settles(150_000)
    assert.equal(state, 'ERROR')
    assert.match(reason ?? '', /did not become ready within 60 s: GET \/health on port 8080 was answered with 500/)
    const { lost, bodies } = await traffic.stop()
    assert.deepEqual([lost, [...bodies.keys()]], [[], ['first']])
    assert.deepEqual(
      (await containers()).map(({ Id }) => Id),
      [former?.Id],
    )
    const log = (await application.deploymentLog()).map(({ message }) => message?.safe_message).join('\n')
    assert.match(log, /Its last health check is too old; it is checked again before it gets traffic/)
    assert.doesNotMatch(log, /Traffic goes to the new version/)
  })
})

describe('a version of two replicas', () => {
  const image = `quayside-engine-test/swap:${process.pid}`
  let bench: DockerBench
  before(async () => {
    await importTestImage(usualSocket, image)
    bench = await openDockerBench({ socketPath: usualSocket, image })
  })
  after(async () => {
    await bench?.close()
    await removeTestImage(usualSocket, image)
  })

  test('is not healthy if the first replica turns unhealthy while the second starts', async () => {
    const probe = {
      initialDelaySeconds: 0,
      periodSeconds: 1,
      timeoutSeconds: 5,
      successThreshold: 1,
      failureThreshold: 1,
    }
    const check = { type: 'http', path: '/', scheme: 'HTTP', port: 8080 } as const
    const ids = newRelease(bench.workload('web'))
    // The name of the first replica resolves to its address, so the first replica can recognize
    // itself.
    const source = `
      process.on('SIGTERM', () => process.exit(0))
      const own = require('os').networkInterfaces().eth0[0].address
      require('dns').lookup(${JSON.stringify(containerName(ids, 1))}, (_, address) => {
        const isFirst = address === own
        let asked = 0
        const listen = () => require('http').createServer((_, response) => {
          response.statusCode = isFirst && asked++ > 0 ? 500 : 200
          response.end()
        }).listen(8080)
        setTimeout(listen, isFirst ? 0 : 4000)
      })`
    const workload = { ...ids.workload, ...node(source), replicas: { min: 2, max: 2 }, startDeadlineSeconds: 25 }
    const release = { ...ids, workload: { ...workload, probes: { readiness: { check, ...probe } } } }
    await assert.rejects(bench.engine.start(release, attempt()), {
      reason: 'not-ready',
      message: /replica 1 did not become ready within 25 s: GET \/ on port 8080 was answered with 500/,
    })
  })
})
