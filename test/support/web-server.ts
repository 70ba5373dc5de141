import type { Cleanup } from '../../server/database/testing.ts'
import { makeWeb, type TestApplication } from './application.ts'
import type { Tree } from './git-remote.ts'
import { type PrivateServer, startPrivateServer } from './private-server.ts'
import { type ServerProcess, startServer } from './server-process.ts'

/** A server with an application that answers with the name of its version. */
export interface WebServer {
  readonly server: ServerProcess
  readonly application: TestApplication
}

/**
 * Starts a server and an application, and removes them after the tests. If a tree is given, its
 * version is running at the start.
 */
export async function startWebServer({ after }: Cleanup, first?: Tree): Promise<WebServer> {
  const server = await startServer()
  after(() => server.close())
  const application = await makeWeb(server)
  after(() => application.git.remove())
  if (first) await application.run(first)
  return { server, application }
}

/** Starts a server and an application on a private engine. `close` ends and removes everything. */
export async function startPrivateWebServer(first: Tree): Promise<PrivateServer & WebServer> {
  const parts = await startPrivateServer()
  try {
    const application = await makeWeb(parts.server)
    await application.run(first)
    const close = async (): Promise<void> => {
      await application.git.remove()
      await parts.close()
    }
    return { ...parts, application, close }
  } catch (error) {
    await parts.close()
    throw error
  }
}
