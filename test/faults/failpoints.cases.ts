import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { failpoints } from '../../server/lib/failpoint.ts'
import { makeWeb, type TestApplication } from '../support/application.ts'
import {
  assertDeployedOnce,
  assertToldOnce,
  doneSteps,
  lastRequest,
  nothingWorks,
} from '../support/deployment-facts.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { startTraffic } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { startReceiver } from '../support/webhook-receiver.ts'

/**
 * Kills the server at each failpoint of a deployment. The next server completes the deployment and
 * no request is lost meanwhile. `webhook.sent` should be the first point: at a later position, an
 * interrupted delivery is repeated only after 20 s.
 */
export function testKillsAt(points: readonly (typeof failpoints)[number][]): void {
  let server: ServerProcess
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  let application: TestApplication
  const requests: string[] = []

  before(async () => {
    server = await startServer()
    receiver = await startReceiver()
    await server.must('POST', `/organization/${server.organizationId}/webhook`, {
      target_url: receiver.url,
      events: ['DEPLOYMENT_STARTED', 'DEPLOYMENT_SUCCESSFUL', 'DEPLOYMENT_FAILURE', 'DEPLOYMENT_CANCELLED'],
    })
    application = await makeWeb(server)
    await application.run(web('first'))
    requests.push(await lastRequest(server, application))
    await assertToldOnce(requests, receiver.deliveries)
  })
  after(async () => {
    receiver?.close()
    await application?.git.remove()
    await server?.close()
  })

  const imagesOf = async (id: string): Promise<string[]> => (await server.engine.imagesOf(id)).map(({ Id }) => Id)
  const adopted = 'The image of this commit already exists; nothing is built.'
  const reported = async () => (await application.deploymentLog()).map(({ message }) => message?.safe_message)

  /** Commits more while the server is down. The deployment keeps the commit with which it began. */
  const commitMore = async (): Promise<void> => {
    await application.git.git('commit', '--quiet', '--allow-empty', '--message', 'later')
    const repository = join(server.dataDirectory, 'git', server.organizationId, 'web.git')
    await application.git.git('push', '--quiet', repository, 'main')
  }

  for (const point of points) {
    test(`a server killed at ${point} completes the deployment once after its next start`, async (t) => {
      const commit = await application.git.push(web(point))
      await nothingWorks(server)
      const images = await imagesOf(application.id)
      await server.restart({ failpoint: `${point}:kill` })
      const traffic = startTraffic(application.url, 50)
      t.after(() => traffic.stop())
      // At some points the answer is lost, but the request is accepted.
      await application.deploy().catch(() => {})
      assert.equal((await server.exited()).signal, 'SIGKILL', `${point} was not reached`)
      const request = await lastRequest(server, application)
      const recorded = await doneSteps(server, request)
      await commitMore()
      await server.restart()
      await assertDeployedOnce(server, application, { version: point, request, recorded })
      if (recorded.some(({ name }) => name.endsWith('/PIN'))) {
        assert.equal((await application.history())[0]?.details.commit?.git_commit_id, commit)
      }
      assert.equal((await imagesOf(application.id)).filter((id) => !images.includes(id)).length, 1, 'one image')
      if (point === 'build.done') assert.ok((await reported()).includes(adopted), 'the image was built again')
      requests.push(request)
      const { lost } = await traffic.stop()
      assert.deepEqual(lost, [])
    })
  }

  test('each of these deployments is delivered once, under one id', async () => {
    await assertToldOnce(requests, receiver.deliveries)
  })
}
