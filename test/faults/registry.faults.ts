import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { engineForTests } from '../../server/builders/docker/engine-for-tests.ts'
import { makeSmallImage, pushImage, removeImages, removeImagesOf } from '../../server/engines/docker/test-push.ts'
import { DockerEngine } from '../../server/engines/index.ts'
import { createAddressGuard } from '../../server/lib/address.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { newId } from '../../server/lib/id.ts'
import { Secret } from '../../server/lib/secret.ts'
import { type Registry, startRegistry, whyNoRegistry } from '../support/registry.ts'

/** How the proxy treats the engine's requests to the registry. */
type Fault = 'none' | 'too often' | 'broken' | 'cut' | 'other bytes' | 'forbidden'

const { socketPath, skip } = await engineForTests()
const guard = createAddressGuard({ allowedPrivateCidrs: ['127.0.0.1/32'] })

describe('a registry that misbehaves', { skip: skip || (await whyNoRegistry()) }, () => {
  let registry: Registry
  let front: Awaited<ReturnType<typeof startFront>>
  const engine = new DockerEngine({ socketPath, instance: `test-${newId().slice(-8)}`, clock: systemClock, guard })
  const login = () => ({ username: registry.username, password: new Secret(registry.password) })
  const image = (tag: string): string => `${front.host}/team/small:${tag}`

  before(async () => {
    registry = await startRegistry()
    front = await startFront(registry.host)
  })
  after(async () => {
    if (!registry) return
    await removeImagesOf(socketPath, front.host)
    front.close()
    await registry.close()
  })
  async function push(tag: string): Promise<void> {
    front.fault = 'none'
    await makeSmallImage(socketPath, image(tag))
    await pushImage(socketPath, image(tag), login())
    await removeImages(socketPath, [image(tag)])
  }
  /**
   * Pins and fetches an image during the fault. Returns the result and the printed lines. With
   * `until` the fault ends after the first line.
   */
  async function bring(fault: Fault, options: { readonly until?: 'first line'; readonly pinned?: boolean } = {}) {
    const tag = fault.replaceAll(' ', '-') + (options.until ? '-mended' : '')
    await push(tag)
    const lines: string[] = []
    const output = {
      line: (text: string) => {
        lines.push(text)
        if (options.until) front.fault = 'none'
      },
    }
    const attempt = { signal: AbortSignal.timeout(100_000), output }
    const known = options.pinned ? await engine.pinImage(image(tag), login(), attempt) : undefined
    front.fault = fault
    const bringing = async (): Promise<string> => {
      const { reference } = known ?? (await engine.pinImage(image(tag), login(), attempt))
      await engine.fetchImage(reference, login(), attempt)
      return reference
    }
    const ended = await bringing().then(
      (reference) => ({ reference }),
      (error: Error) => ({ reason: Object(error).reason, message: error.message }),
    )
    front.fault = 'none'
    const isThere = known && (await engine.pinImage(known.reference, undefined, attempt)).isThere
    return { ended: Object(ended), lines, isThere }
  }

  test('one that limits requests for a moment is retried and returns the image', async () => {
    const { ended, lines } = await bring('too often', { until: 'first line' })
    assert.match(ended.reference ?? JSON.stringify(ended), /@sha256:/)
    assert.match(lines[0] ?? '', /received too many requests.*Trying again in 5 s/)
  })

  test('one that fails for a moment is retried and returns the image', async () => {
    const { ended, lines } = await bring('broken', { until: 'first line' })
    assert.match(ended.reference ?? JSON.stringify(ended), /@sha256:/)
    assert.match(lines[0] ?? '', /cannot be reached/)
  })

  test('one that denies access is asked once', async () => {
    const { ended, lines } = await bring('forbidden')
    assert.equal(ended.reason, 'image-missing', ended.message)
    assert.match(ended.message, /does not give access/)
    assert.deepEqual(lines, [])
  })

  for (const fault of ['cut', 'other bytes'] as const) {
    test(`bytes that arrive with "${fault}" are not accepted as the image`, async () => {
      const { ended, isThere } = await bring(fault, { pinned: true })
      assert.ok(ended.message?.includes(front.host), JSON.stringify(ended))
      assert.equal(isThere, false)
    })
  }
})

/** Forwards requests to the registry and applies the current fault. */
async function startFront(to: string) {
  const [host, port] = to.split(':')
  const front = { host: '', fault: 'none' as Fault, close: () => {} }
  const server = createServer((request, response) => {
    const { fault } = front
    const isBlob = /\/blobs\/sha256:/.test(request.url ?? '') && request.method === 'GET'
    const isManifest = /\/manifests\//.test(request.url ?? '')
    if (fault === 'too often' && isManifest) return void response.writeHead(429).end()
    if (fault === 'broken' && isManifest) return void response.writeHead(503).end()
    if (fault === 'forbidden' && isManifest) return void response.writeHead(403).end('{"errors":[{"code":"DENIED"}]}')
    const onward = ask(
      { host, port, method: request.method, path: request.url, headers: { ...request.headers } },
      (answer) => {
        if (!isBlob || (fault !== 'cut' && fault !== 'other bytes')) {
          response.writeHead(answer.statusCode ?? 502, answer.headers)
          return void answer.pipe(response)
        }
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => void chunks.push(chunk))
        answer.on('end', () => {
          const bytes = Buffer.concat(chunks)
          response.writeHead(200, { 'content-length': bytes.length, 'content-type': 'application/octet-stream' })
          if (fault === 'cut') {
            return void response.write(bytes.subarray(0, Math.floor(bytes.length * 0.99)), () => response.destroy())
          }
          bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
          response.end(bytes)
        })
      },
    )
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A server that listens on a port has an address with a port.
  front.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  front.close = () => {
    server.closeAllConnections()
    server.close()
  }
  return front
}
