import { type PrivateEngine, startPrivateEngine } from './private-engine.ts'
import { type ServerProcess, startServer } from './server-process.ts'

/** A server with a private engine. Tests can kill and pause both. */
export interface PrivateServer {
  readonly engine: PrivateEngine
  readonly server: ServerProcess
  /** Ends both and removes everything they left. */
  close(): Promise<void>
}

/**
 * Starts the engine, then the server. `provide` gets the engine's socket in between, to add images.
 * `options` are those of the engine.
 */
export async function startPrivateServer(
  provide: (socketPath: string) => Promise<unknown> = async () => {},
  options: Parameters<typeof startPrivateEngine>[0] = {},
): Promise<PrivateServer> {
  const engine = await startPrivateEngine(options)
  try {
    await provide(engine.socketPath)
    const server = await startServer({ engineSocket: engine.socketPath })
    const close = async (): Promise<void> => {
      await server.close()
      await engine.close()
    }
    return { engine, server, close }
  } catch (error) {
    await engine.close()
    throw error
  }
}
