import { request } from 'node:http'
import { createInterface } from 'node:readline'
import type { Installation } from './installation.ts'

const limitMs = 120_000

/**
 * Follows the changes of an organization until a deployment of the environment has ended. A stream
 * costs the server less than polling. `ended` settles with the status. It rejects if the stream
 * ends before, or after two minutes.
 */
export async function followDeployment(
  { port, token }: Pick<Installation, 'port' | 'token'>,
  place: { readonly organization: string; readonly environment: string },
): Promise<{ readonly ended: Promise<string> }> {
  const [ready, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()]
  // The caller that awaits `ended` gets the error.
  ended.promise.catch(() => {})
  const asked = request({
    host: '127.0.0.1',
    port,
    path: `/organization/${place.organization}/stream`,
    headers: { authorization: `Bearer ${await token()}` },
    signal: AbortSignal.timeout(limitMs),
  })
  const fail = (error: Error): void => {
    ready.reject(error)
    ended.reject(error)
  }
  asked.on('error', fail)
  asked.on('response', (stream) => {
    const lines = createInterface({ input: stream }).on('error', fail)
    lines.on('line', (line) => {
      if (line === 'event: ready') ready.resolve()
      const status = statusIn(line, place.environment)
      if (status !== undefined && isEnd(status)) {
        ended.resolve(status)
        asked.destroy()
      }
    })
    stream.on('close', () => fail(new Error(`the stream of changes ended with ${stream.statusCode}`)))
  })
  asked.end()
  await ready.promise
  return { ended: ended.promise }
}

/** Returns the status of a deployment of the environment, if a line of the stream has one. */
function statusIn(line: string, environment: string): string | undefined {
  if (!line.startsWith('data: ')) return undefined
  const data: unknown = JSON.parse(line.slice('data: '.length))
  const { type, environment_id, status } = Object(data)
  return type === 'deployment.status' && environment_id === environment ? String(status) : undefined
}

const isEnd = (status: string): boolean => ['SUCCESS', 'ERROR', 'CANCELED'].includes(status)
