import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, test } from 'node:test'
import { assertDeployedOnce, lastRequest } from '../support/deployment-facts.ts'
import type { Tree } from '../support/git-remote.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { startWebServer } from '../support/web-server.ts'

// The server is killed while it waits for open requests of a previous version. The next server
// waits for them again and then ends that version.

const { server, application } = await startWebServer({ after })

/** Begins its answer at once and ends it with the body of the request. */
const listening: Tree = {
  ...web('listening'),
  'app.js': `
    require('node:http').createServer((request, response) => {
      response.write('begun ')
      request.resume().on('end', () => response.end('ended'))
    }).listen(8080)
    process.on('SIGTERM', () => process.exit(0))`,
}

test('open requests are answered although the server is killed, and the previous version ends afterwards', async () => {
  await application.run(listening)
  const { host, port } = new URL(application.url)
  const heard = { text: '', isOver: false, error: '' }
  const options = { host: '127.0.0.1', port, path: '/', method: 'POST', headers: { host } }
  const call = request(options, (answer) => {
    answer.setEncoding('utf8').on('data', (part: string) => {
      heard.text += part
    })
    answer.on('end', () => {
      heard.isOver = true
    })
    answer.on('error', (error) => {
      heard.error = String(error)
    })
  })
  call.on('error', (error) => {
    heard.error = String(error)
  })
  call.write('to be continued')
  await until('the answer has begun', () => heard.text === 'begun ')
  await application.ship(web('new'))
  const id = await lastRequest(server, application)
  await until('the server waits for the previous version', async () => {
    const rows = await server.sql`
      select from workflow_step where workflow_id = ${id} and name like '%/RETIRE' and status is distinct
      from 'SUCCESS'`
    return rows.length === 1
  })
  await server.restart()
  call.end()
  await until('the answer has ended', () => heard.isOver || heard.error !== '')
  assert.deepEqual(heard, { text: 'begun ended', isOver: true, error: '' })
  await assertDeployedOnce(server, application, { version: 'new', request: id })
})
