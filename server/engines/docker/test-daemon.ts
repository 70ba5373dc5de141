import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../lib/clock.ts'
import { DockerDaemon } from './daemon.ts'

/** Starts a daemon that answers as the listener does. */
export async function pretend(listener: RequestListener, test: (daemon: DockerDaemon) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-daemon-'))
  const socketPath = join(directory, 'docker.sock')
  const server = createServer(listener).listen(socketPath)
  await once(server, 'listening')
  try {
    await test(new DockerDaemon({ socketPath, clock: systemClock, patienceMs: 2_000 }))
  } finally {
    server.closeAllConnections()
    server.close()
    await rm(directory, { recursive: true })
  }
}
