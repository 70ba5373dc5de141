import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeWeb, type TestApplication } from '../support/application.ts'
import { nothingWorks } from '../support/deployment-facts.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'

// A server that is killed while it accepts a push deploys the pushed commit once after its next
// start.

let server: ServerProcess
let application: TestApplication

before(async () => {
  server = await startServer()
  application = await makeWeb(server, { auto_deploy: true })
  await application.git.push(web('first'))
  await until('the first push is deployed', isAnswered('first'), { limitMs: 60_000 })
})
after(async () => {
  await application?.git.remove()
  await server?.close()
})

const isAnswered = (version: string) => async () =>
  (await application.answer().catch(() => undefined))?.body === version

for (const point of ['push.received', 'push.recorded', 'request.committed'] as const) {
  test(`a push to a server that is killed at ${point} is deployed once`, async () => {
    await nothingWorks(server)
    await server.restart({ failpoint: `${point}:kill` })
    // Git may have received no answer.
    await application.git.push(web(point)).catch(() => {})
    const commit = await application.git.git('rev-parse', 'HEAD')
    assert.equal((await server.exited()).signal, 'SIGKILL', `${point} was not reached`)
    await server.restart()
    await until(`${point} answers`, isAnswered(point), { limitMs: 60_000 })
    const pushes = await server.sql`select from git_push where commit = ${commit}`
    const requests = await server.sql`
      select from deployment_target where service_id = ${application.id} and wanted_commit = ${commit}`
    assert.deepEqual([pushes.length, requests.length], [1, 1])
  })
}
