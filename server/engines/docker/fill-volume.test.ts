import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { pack } from 'tar-stream'
import { unpack } from './fill-volume.ts'
import { pretend } from './test-daemon.ts'

const metering = { count: () => {}, broken: 'refused' } as const

/** Unpacks an archive in a fake daemon with this response. */
const unpackAt = (listener: RequestListener, archive: AsyncIterable<Uint8Array>) =>
  pretend(listener, async (daemon) => {
    const signal = AbortSignal.timeout(60_000)
    await unpack(daemon, { container: 'helper', path: '/' }, () => archive, { ...metering, signal })
  })

async function makeArchive(): Promise<Buffer> {
  const tar = pack()
  tar.entry({ name: 'volume/file' }, Buffer.alloc(100_000, 1))
  tar.finalize()
  return buffer(tar)
}

test('an error at the end of an archive is reported even if the daemon has already accepted it', async () => {
  const archive = await makeArchive()
  const { promise: isAnswered, resolve } = Promise.withResolvers<void>()
  const damaged = async function* () {
    yield archive
    await isAnswered
    // Waits until the response has been read.
    for (let turns = 0; turns < 100; turns++) await setImmediate()
    throw new TypeError('the last part is damaged')
  }
  const isContent: RequestListener = (request, response) => {
    request.once('data', () => response.end('', () => resolve()))
    request.resume()
  }
  await assert.rejects(unpackAt(isContent, damaged()), /the last part is damaged/)
})

test('a full disk is reported as such, and any other rejection with the daemon’s own message', async () => {
  const archive = await makeArchive()
  const given = async function* () {
    yield archive
  }
  const refuse =
    (message: string): RequestListener =>
    (request, response) =>
      void request.resume().once('end', () => response.writeHead(500).end(JSON.stringify({ message })))
  const full = refuse('write /volume/file: no space left on device')
  await assert.rejects(unpackAt(full, given()), { name: 'EngineError', reason: 'disk-full' })
  const message = /operation not permitted/
  await assert.rejects(unpackAt(refuse('operation not permitted'), given()), { reason: 'refused', message })
})
