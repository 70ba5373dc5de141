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

// A server that stands still in the middle of a deployment, and meanwhile loses its lease, or finds
// another engine than it left.

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
 * Deploys, does this while the server stands still at the point and that once it goes on, and holds
 * the end against everything that could have gone wrong.
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
    // At some points the answer only comes once it goes on.
    const asked = application.deploy()
    await until(`it stands still at ${point}`, isStopped, { limitMs: 60_000 })
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
  test(`a lease that ends while the server stands still at ${point} is given up, and the deployment ends once`, {
    skip,
  }, async () => {
    await meanwhile(
      point,
      `lease ${point}`,
      (request) => server.sql`update workflow set lease_until = now() - interval '1 second' where id = ${request}`,
    )
  })
}

/** By the deployment itself; some of its calls it repeats for 15 s before it says so. */
const missesEngine = () =>
  until(
    'the deployment tells that the engine is away',
    async () =>
      (await application.deploymentLog()).some(({ message }) => message?.safe_message.includes('cannot be reached')),
    { limitMs: 60_000 },
  )

const withEngine = ofDeployments.filter((point) => !/^(request|workflow)/.test(point))
for (const point of withEngine) {
  test(`an engine that is killed and started while a deployment is at ${point} changes nothing about its end`, {
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
