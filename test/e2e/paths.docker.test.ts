import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { get } from '../support/traffic.ts'

// Two ports of one service share a host name, each with its own path.

let server: ServerProcess
let application: TestApplication

before(
  async () => {
    server = await startServer()
    const port = { publicly_accessible: true, protocol: 'HTTP' }
    const ports = [
      { ...port, internal_port: 8080, is_default: true },
      { ...port, internal_port: 9090, name: 'api', public_path: '/api/(.*)', public_path_rewrite: '/v1/$1' },
    ]
    const environmentId = await makeEnvironment(server, 'paths')
    application = await makeApplication(server, { environmentId, name: 'web', settings: { ports } })
    await application.run({
      Dockerfile: 'FROM quayside/node:24\nWORKDIR /app\nCOPY . ./\nCMD ["node", "app.js"]\n',
      'app.js': `
        const { createServer } = require('node:http')
        for (const port of [8080, 9090]) createServer(({ url }, answer) => answer.end(port + ' ' + url)).listen(port)`,
    })
  },
  { timeout: 120_000 },
)
after(async () => {
  await application?.git.remove()
  await server?.close()
})

test('requests reach the port of their path, with the path that it expects', async () => {
  const { url } = application
  const links = await server.must<{ results: { url: string }[] }>('GET', `/application/${application.id}/link`)
  assert.ok(
    links.results.some((link) => link.url === `${url}/api`),
    JSON.stringify(links),
  )
  const bodies = await Promise.all(
    ['/', '/apis', '/api', '/api/users/7', '/%61pi/x'].map(async (path) => (await get(url + path)).body),
  )
  assert.deepEqual(bodies, ['8080 /', '8080 /apis', '9090 /v1', '9090 /v1/users/7', '9090 /v1/x'])
  assert.equal((await get(`${url}/api%2fusers`)).status, 400)
})
