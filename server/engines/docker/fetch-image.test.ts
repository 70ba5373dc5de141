import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { systemClock } from '../../lib/clock.ts'
import { DockerDaemon } from './daemon.ts'
import { fetchImage, pinImage } from './fetch-image.ts'
import { parseReference } from './image-reference.ts'
import { problemKind } from './registry-problem.ts'

const digest = `sha256:${'a'.repeat(64)}`
const image = 'registry.test/team/web:1'
const pinned = `registry.test/team/web@${digest}`

/** A daemon whose registry gives these answers, one after the other; `has` are images that it has. */
async function pretend(options: {
  readonly answers?: readonly (readonly [status: number, body: object])[]
  readonly has?: Readonly<Record<string, object>>
  readonly pulls?: RequestListener
  readonly hangs?: boolean
}) {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-fetch-'))
  const answers = [...(options.answers ?? [])]
  const asked: string[] = []
  const removed: string[] = []
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').replace(/\?.*$/, '')
    const say = (status: number, body: object): void => void response.writeHead(status).end(JSON.stringify(body))
    if (path.startsWith('/distribution/')) {
      asked.push(path)
      if (options.hangs) return
      return say(...(answers.shift() ?? [500, { message: 'no more answers' }]))
    }
    if (path === '/images/create') {
      asked.push(request.url ?? '')
      return options.pulls?.(request, response)
    }
    if (request.method === 'DELETE') {
      removed.push(path)
      return say(200, [])
    }
    const found = options.has?.[path.slice('/images/'.length, -'/json'.length)]
    say(found ? 200 : 404, found ?? { message: 'No such image' })
  }).listen(join(directory, 'docker.sock'))
  await once(server, 'listening')
  const waited: number[] = []
  const silence = Promise.withResolvers<void>()
  const clock = {
    ...systemClock,
    // Pauses pass at once; the long wait for a silent registry when the test says so.
    sleep: async (ms: number, signal?: AbortSignal) => {
      if (ms < 90_000) return void waited.push(ms)
      await Promise.race([silence.promise, signal && once(signal, 'abort')])
      signal?.throwIfAborted()
      now += ms
    },
    monotonic: () => now,
  }
  let now = 0
  const lines: string[] = []
  return {
    host: {
      daemon: new DockerDaemon({ socketPath: join(directory, 'docker.sock'), clock: systemClock }),
      clock,
      maxImageBytes: 2 * 1024 ** 3,
    },
    attempt: { signal: AbortSignal.timeout(60_000), output: { line: (text: string) => void lines.push(text) } },
    asked,
    removed,
    waited,
    lines,
    passSilence: () => silence.resolve(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await rm(directory, { recursive: true })
    },
  }
}
const said = (status: number, message: string) => [status, { message }] as const

describe('fetching images', () => {
  it('waits longer and longer for a registry that is away, and goes on when it is back', async () => {
    const away = said(500, 'Get "https://registry.test/v2/": dial tcp: connect: connection refused')
    await using docker = await pretend({ answers: [away, away, away, [200, { Descriptor: { digest } }]] })
    const found = await pinImage(docker.host, image, undefined, docker.attempt)
    assert.deepEqual(found, { reference: pinned, digest, isThere: false, namedBy: 'registry' })
    assert.deepEqual(docker.waited, [1000, 2000, 4000])
    assert.match(
      docker.lines[0] ?? '',
      /^The image registry\.test\/team\/web:1 .*registry registry\.test cannot be reached.*Trying again in 1 s\.$/,
    )
  })

  const refusals: readonly (readonly [string, number, string, number, RegExp])[] = [
    ['registry-away', 500, 'dial tcp: lookup registry.test: no such host', 6, /cannot be reached.*Check that it runs/],
    ['registry-away', 500, 'toomanyrequests: You have reached your pull rate limit', 6, /asked too often.*later/],
    ['image-missing', 401, 'unauthorized: authentication required', 1, /does not give access.*user name and password/],
    ['image-missing', 404, 'manifest unknown: manifest unknown', 1, /none of that name and tag.*Correct them/],
  ]
  for (const [reason, status, message, times, sentence] of refusals) {
    it(`gives up after ${times} question(s) when the registry says "${message}"`, async () => {
      await using docker = await pretend({ answers: Array.from({ length: times }, () => said(status, message)) })
      await assert.rejects(pinImage(docker.host, image, undefined, docker.attempt), (error: Error) => {
        assert.equal(Object(error).reason, reason, error.message)
        assert.match(error.message, sentence)
        assert.ok(error.message.includes(image) && error.message.includes('registry.test'), error.message)
        return true
      })
      assert.equal(docker.asked.length, times)
    })
  }

  it('counts a registry that says nothing as away', async () => {
    const has = { [image]: { Id: digest, RepoDigests: null } }
    await using docker = await pretend({ hangs: true, has })
    const pinning = pinImage(docker.host, image, undefined, docker.attempt)
    docker.passSilence()
    assert.deepEqual(await pinning, { reference: digest, digest, isThere: true, namedBy: 'engine' })
    assert.match(docker.lines.join(), /it sent nothing for 90 s/)
  })

  it('uses no image of the engine that came from a registry which now refuses it, nor one built for a service', async () => {
    const denied = said(401, 'unauthorized')
    const fromRegistry = { Id: digest, RepoDigests: [pinned] }
    const built = { Id: digest, Config: { Labels: { 'quayside.service': 'x' } } }
    for (const found of [fromRegistry, built]) {
      await using docker = await pretend({ answers: [denied], has: { [image]: found } })
      await assert.rejects(pinImage(docker.host, image, undefined, docker.attempt), { reason: 'image-missing' })
    }
    const made = { Id: digest, RepoDigests: [] }
    await using docker = await pretend({ answers: [denied], has: { [image]: made } })
    assert.equal((await pinImage(docker.host, image, undefined, docker.attempt)).reference, digest)
  })

  it('does not take what has another digest, and says so after three tries', async () => {
    const pulls: RequestListener = (_request, response) =>
      void response.end('{"status":"Pull complete","id":"1"}\r\n{"status":"Status: Downloaded"}\r\n')
    await using docker = await pretend({ pulls })
    await assert.rejects(fetchImage(docker.host, pinned, undefined, docker.attempt), {
      reason: 'image-missing',
      message: /is not used: what the registry registry\.test sent is not what its digest says/,
    })
    assert.equal(docker.asked.length, 3)
  })

  it('does not keep what is larger than an image may be', async () => {
    for (const [size, isKept] of [[2 * 1024 ** 3, true], [2.5 * 1024 ** 3, false]] as const) {
      const has: Record<string, object> = {}
      const pulls: RequestListener = (_request, response) => {
        has[pinned] = { Id: digest, Size: size, RepoDigests: [pinned] }
        response.end('{"status":"Pull complete","id":"1"}\n')
      }
      await using docker = await pretend({ pulls, has })
      const fetching = fetchImage(docker.host, pinned, undefined, docker.attempt)
      if (isKept) await fetching
      else {
        const message = /takes 2\.50 GiB, and an image may take 2\.00 GiB \(QUAYSIDE_IMAGE_SIZE\); it was removed/
        await assert.rejects(fetching, { reason: 'refused', message })
      }
      assert.deepEqual(docker.removed, isKept ? [] : [`/images/${pinned}`])
    }
  }) // biome-ignore format: two rows

  it('says in words that the disk of the engine is full', async () => {
    const pulls: RequestListener = (_request, response) =>
      void response.end('{"error":"failed to register layer: write /x: no space left on device"}\n')
    await using docker = await pretend({ pulls })
    await assert.rejects(fetchImage(docker.host, pinned, undefined, docker.attempt), {
      message: /cannot be stored: the disk of the engine is full.*Free space there/,
    })
  })

  it('takes a daemon that breaks off for the engine being away, not for the registry', async () => {
    const pulls: RequestListener = (_request, response) => {
      response.write('{"status":"Waiting","id":"1"}\n')
      setTimeout(() => response.socket?.destroy(), 20)
    }
    await using docker = await pretend({ pulls })
    await assert.rejects(fetchImage(docker.host, pinned, undefined, docker.attempt), { reason: 'unreachable' })
  })

  it('asks no daemon for what is no name of an image', async () => {
    await using docker = await pretend({})
    for (const name of ['a/../../containers/json?x:1', 'x y:1', 'A/b:1', '--privileged:1', 'a@sha256:zz', 'a:b/c:1']) {
      await assert.rejects(pinImage(docker.host, name, undefined, docker.attempt), { reason: 'refused' }, name)
    }
    assert.equal(docker.asked.length, 0)
  })
})

describe('references', () => {
  it('are taken apart as Docker does', () => {
    const parts = (text: string) => Object.values(parseReference(text)).map((part) => part ?? '-')
    assert.deepEqual(parts('postgres:16'), ['docker.io', 'docker.io/library/postgres', '16', '-'])
    assert.deepEqual(parts('team/web:1'), ['docker.io', 'docker.io/team/web', '1', '-'])
    assert.deepEqual(parts('localhost:5000/a/b:1'), ['localhost:5000', 'localhost:5000/a/b', '1', '-'])
    assert.deepEqual(parts(`127.0.0.1:5000/a@${digest}`), ['127.0.0.1:5000', '127.0.0.1:5000/a', '-', digest])
    assert.deepEqual(parts('ghcr.io/a:b'), ['ghcr.io', 'ghcr.io/a', 'b', '-'])
  })
})

describe('what registries say', () => {
  const sayings: Readonly<Record<string, string>> = {
    'Head "http://127.0.0.1:1/v2/a/manifests/1": no basic auth credentials': 'denied',
    "pull access denied for x, repository does not exist or may require 'docker login'": 'denied',
    'manifest for x:1 not found: manifest unknown: manifest unknown': 'absent',
    'received unexpected HTTP status: 503 Service Unavailable': 'away',
    'received unexpected HTTP status: 429 Too Many Requests': 'busy',
    'filesystem layer verification failed for digest sha256:1': 'broken',
    'net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)': 'away',
    'Get "https://x/v2/": net/http: TLS handshake timeout': 'away',
    'no matching manifest for linux/arm64/v8 in the manifest list entries': 'platform',
    'failed to register layer: ApplyLayer exit status 1: write /x: no space left on device': 'disk-full',
    'x509: certificate signed by unknown authority': 'other',
  }
  for (const [text, kind] of Object.entries(sayings))
    it(`"${text}" is ${kind}`, () => assert.equal(problemKind(text), kind))
})
