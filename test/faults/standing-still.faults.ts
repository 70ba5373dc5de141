import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { failpoints } from '../../server/lib/failpoint.ts'
import type { TestApplication } from '../support/application.ts'
import { assertDeployedOnce, lastRequest, nothingWorks } from '../support/deployment-facts.ts'
import { type PrivateEngine, whyNoPrivateEngine } from '../support/private-engine.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { startTraffic } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { startPrivateWebServer } from '../support/web-server.ts'

// A server is suspended during a deployment and meanwhile loses its lease, or finds another engine
// afterwards.

const skip = (await whyNoPrivateEngine()) ?? false
let engine: PrivateEngine
let server: ServerProcess
let close: (() => Promise<void>) | undefined
let application: TestApplication

before(
  async () => {
    if (skip) return
    ;({ engine, server, application, close } = await startPrivateWebServer(web('first')))
  },
  { timeout: 120_000 },
)
after(() => close?.())

const isStopped = async (): Promise<boolean> =>
  / T /.test((await readFile(`/proc/${server.pid()}/stat`, 'utf8')).replace(/^.*\)/, ''))

/**
 * Deploys, runs one function while the server is suspended at the point and another after it
 * resumes. Asserts that the deployment ends correctly.
 */
async function meanwhile(
  point: string,
  version: string,
  does: (request: string) => Promise<unknown>,
  afterwards: () => Promise<unknown> = async () => {},
): Promise<void> {
  await application.git.push(web(version))
  await nothingWorks(server)
  await server.restart({ failpoint: `${point}:stop` })
  const traffic = startTraffic(application.url, 20)
  try {
    // At some points the answer arrives only after the server resumes.
    const asked = application.deploy()
    await until(`the server is suspended at ${point}`, isStopped, { limitMs: 60_000 })
    const request = await lastRequest(server, application)
    await does(request)
    server.resume()
    await afterwards()
    await asked
    await assertDeployedOnce(server, application, { version, request, limitMs: 120_000 })
    const ends = await server.sql`select from event where payload_id = ${request} and type = 'DEPLOYMENT_SUCCESSFUL'`
    assert.equal(ends.length, 1)
  } finally {
    server.resume()
    assert.deepEqual((await traffic.stop()).lost, [])
  }
}

const ofDeployments = failpoints.filter((point) => point !== 'webhook.sent')
for (const point of ofDeployments) {
  test(`a lease that expires while the server is suspended at ${point} is lost, and the deployment ends once`, {
    skip,
  }, async () => {
    await meanwhile(
      point,
      `lease ${point}`,
      (request) => server.sql`update workflow set lease_until = now() - interval '1 second' where id = ${request}`,
    )
  })
}

/** Waits until the deployment itself reports it. Some calls are retried for 15 s before that. */
const missesEngine = () =>
  until(
    'the deployment reports that the engine is unreachable',
    async () =>
      (await application.deploymentLog()).some(({ message }) => message?.safe_message.includes('cannot be reached')),
    { limitMs: 60_000 },
  )

const withEngine = ofDeployments.filter((point) => !/^(request|workflow)/.test(point))
for (const point of withEngine) {
  test(`an engine that is killed and restarted while a deployment is at ${point} does not change its result`, {
    skip,
  }, async () => {
    await meanwhile(
      point,
      `engine ${point}`,
      () => engine.kill9(),
      async () => {
        await missesEngine().finally(() => engine.start())
      },
    )
  })
}
