import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { systemClock } from '../lib/clock.ts'
import {
  commandLines,
  git,
  type HostServer,
  newWorkTree,
  organizationA,
  scratchDirectory,
  startHost,
  withToken,
} from './git-server.fixture.ts'

const pace = { bytesPerSecond: 10_000, graceMs: 400 }
const authorization = `Basic ${Buffer.from('git:token-of-a').toString('base64')}`

const isCutOff = async (server: HostServer): Promise<void> => {
  await until('no call runs', () => server.running() === 0)
  await until('no program of git runs', async () => (await commandLines(server.directory)).length === 0)
}

/**
 * Creates a repository without a client, because a busy machine may slow a client down. Returns its
 * address.
 */
async function fill(t: TestContext, server: HostServer, bytes: number): Promise<string> {
  const files = await scratchDirectory(t)
  await writeFile(join(files, 'large.bin'), randomBytes(bytes))
  await server.host.importDirectory(organizationA, 'app', files, 'Files')
  return withToken(`${server.origin}/git/app.git`, 'token-of-a')
}

for (const service of ['git-upload-pack', 'git-receive-pack']) {
  test(`a client of ${service} that stops sending its body is cut off`, async (t) => {
    const server = await startHost(t, { pace })
    await fill(t, server, 100)
    const headers = { authorization, 'content-type': `application/x-${service}-request`, 'content-length': '1000000' }
    const sent = request(`${server.origin}/git/app.git/${service}`, { method: 'POST', headers })
    sent.on('error', () => {})
    const closed = new Promise((resolve) => sent.once('close', resolve))
    sent.write('00')
    await until('the call runs', () => server.running() === 1)
    await closed
    await isCutOff(server)
  })
}

test('a client that sends below the lowest rate is cut off, even if it never stops', async (t) => {
  const server = await startHost(t, { pace })
  await fill(t, server, 100)
  const headers = {
    authorization,
    'content-type': 'application/x-git-receive-pack-request',
    'content-length': '1000000',
  }
  const sent = request(`${server.origin}/git/app.git/git-receive-pack`, { method: 'POST', headers })
  let isOpen = true
  sent.on('error', () => (isOpen = false))
  sent.on('close', () => (isOpen = false))
  // The first packet announces a long length, so git waits for the rest of it.
  sent.write('fff0')
  while (isOpen) {
    sent.write('0')
    await systemClock.sleep(20)
  }
  await isCutOff(server)
})

test('a client that does not read the answer is cut off', async (t) => {
  const server = await startHost(t, { pace })
  const url = await fill(t, server, 30 * 1024 ** 2)
  const id = (await git('/', 'ls-remote', url, 'main')).slice(0, 40)
  const line = (text: string): string => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`
  const body = `${line('command=fetch')}0001${line(`want ${id}\n`)}${line('done\n')}0000`
  const { hostname, port } = new URL(server.origin)
  const socket: Socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.pause()
  await once(socket, 'connect')
  socket.write(
    [
      ...['POST /git/app.git/git-upload-pack HTTP/1.1', 'Host: localhost', `Authorization: ${authorization}`],
      ...['Content-Type: application/x-git-upload-pack-request', 'Git-Protocol: version=2'],
      ...[`Content-Length: ${body.length}`, '', body],
    ].join('\r\n'),
  )
  await until('the call runs', () => server.running() === 1)
  await isCutOff(server)
  socket.destroy()
})

test('a client that reads in time gets a large repository completely', async (t) => {
  const server = await startHost(t, { pace: { ...pace, graceMs: 10_000 } })
  const url = await fill(t, server, 30 * 1024 ** 2)
  const copy = await newWorkTree(t)
  await git(copy, 'fetch', '--quiet', url, 'main')
  assert.equal(await git(copy, 'rev-list', '--count', 'FETCH_HEAD'), '1')
})
