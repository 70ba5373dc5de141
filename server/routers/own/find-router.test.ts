import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findRouter } from './find-router.ts'

/** Listens on the control socket of a directory of its own until the test ends. */
async function listen(server: Server, after: (end: () => Promise<void>) => void): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-find-'))
  const controlSocket = join(directory, 'router.sock')
  await new Promise<void>((resolve) => server.listen(controlSocket, resolve))
  after(async () => {
    server.close()
    await rm(directory, { recursive: true, force: true })
  })
  return controlSocket
}

test('no router is found when its process ends at any moment of the question', async (t) => {
  // The end of the connection meets the question before, while and after it is sent.
  let connections = 0
  const server = createServer((socket) => {
    if (connections++ % 2 === 0) socket.destroy()
    else socket.once('data', () => socket.destroy())
  })
  const controlSocket = await listen(server, (end) => t.after(end))
  for (let round = 0; round < 500; round++) assert.equal(await findRouter({ controlSocket }), undefined)
})
