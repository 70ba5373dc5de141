import { type PrivateEngine, startPrivateEngine } from './private-engine.ts'
import { type ServerProcess, startServer } from './server-process.ts'

/** A server with an engine of its own, which may be killed and stopped like the server itself. */
export interface PrivateServer {
  readonly engine: PrivateEngine
  readonly server: ServerProcess
  /** Ends both and removes what they left. */
  close(): Promise<void>
}

/**
 * `provide` is given the engine's socket before the server starts, to put images there; `options`
 * are those of the engine.
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
