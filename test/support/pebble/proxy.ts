import { readFile } from 'node:fs/promises'
import { createServer, request } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { findFreePort } from '../free-port.ts'
import { providePebble } from './build.ts'

export interface PebbleProxyOptions {
  /** The address of the directory behind the proxy. */
  readonly directory: string
  /** Exchanges the chains that the authority sends. */
  readonly change?: (chain: string) => string
  /** Returns when an answer may pass, by the path of its request. */
  readonly hold?: (path: string) => Promise<unknown>
}

export interface PebbleProxy {
  /** The address of the directory at the proxy. */
  readonly directory: string
  /** The paths of all requests so far. */
  readonly paths: readonly string[]
}

/** Starts a proxy before an authority. It ends with the test. The machine must have Pebble. */
export async function startPebbleProxy(
  t: { after(work: () => void): void },
  { directory, change = (chain) => chain, hold = async () => {} }: PebbleProxyOptions,
): Promise<PebbleProxy> {
  const files = await providePebble()
  if (!files) throw new Error('this machine has no Pebble')
  const keys = { key: await readFile(files.serverKey), cert: await readFile(files.serverCertificate) }
  const paths: string[] = []
  const proxy = createServer(keys, async (incoming, response) => {
    const { method, headers, url = '/' } = incoming
    paths.push(url)
    const body = await buffer(incoming)
    // The header `Host` stays, so the authority names the addresses of the proxy.
    const outgoing = request(new URL(url, directory), { method, headers }, async (answer) => {
      const text = await buffer(answer)
      await hold(url)
      const isChain = answer.headers['content-type']?.startsWith('application/pem')
      const { 'content-length': _, ...others } = answer.headers
      response.writeHead(answer.statusCode ?? 500, others).end(isChain ? change(String(text)) : text)
    })
    outgoing.on('error', () => response.destroy()).end(body)
  })
  const port = await findFreePort()
  await new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve))
  t.after(() => void proxy.close().closeAllConnections())
  return { directory: `https://localhost:${port}/dir`, paths }
}
