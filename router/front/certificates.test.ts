import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { connect } from 'node:tls'
import { type ConnectionLimits, usualConnections } from '@quayside/contract/connection-shares.ts'
import { findFreePort } from '../../test/support/free-port.ts'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { selfSigned } from '../../test/support/self-signed.ts'
import { until } from '../../test/support/until.ts'
import type { ServedCertificate } from '../certificates.ts'
import { sleep } from '../clock.ts'
import { silentLog } from '../log.ts'
import { askFront, changeFront } from './admin-socket.ts'
import { Front } from './front.ts'
import { frontFiles } from './front-files.ts'
import { keyFolderPrefix } from './key-files.ts'
import { findHaproxy } from './start-haproxy.ts'

const nothing = async (): Promise<void> => {}
const skip = (await missingHaproxy()) ?? false
const many = (count: number, from = 0): ServedCertificate[] =>
  Array.from({ length: count }, (_, at) => ({
    host: `app-${at + from}.test`,
    chain: selfSigned.cert,
    key: selfSigned.key,
  }))

interface Bed {
  readonly front: Front
  readonly tlsPort: number
  readonly folder: string
  /**
   * Starts another front, as the next router does, with other limits if given, and waits until its
   * HAProxy serves.
   */
  next(limits?: Partial<ConnectionLimits>): Promise<Front>
  /** Replaces the certificates of all fronts. */
  replace(certificates: readonly ServedCertificate[]): void
}

async function frontBed(t: TestContext, first: readonly ServedCertificate[]): Promise<Bed> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-front-'))
  let certificates = first
  const [port, tlsPort] = [await findFreePort(), await findFreePort()]
  const files = frontFiles(join(folder, 'control.sock'))
  const create = async (limits: Partial<ConnectionLimits> = {}): Promise<Front> => {
    const connections = { ...usualConnections, ...limits }
    const settings = { host: '127.0.0.1', port, tlsPort, files, connections, trusted: [], proxies: [] }
    const front = new Front({
      program: haproxy,
      settings,
      log: silentLog,
      hosts: () => new Map(),
      isListed: () => false,
      keysOf: () => [],
      certificates: () => certificates,
      isMine: async () => true,
      isAsked: () => false,
      standIn: { open: nothing, openSecure: nothing, close: nothing, closePlain: nothing },
    })
    await front.start()
    await until('HAProxy serves', () => front.pid !== undefined)
    return front
  }
  const front = await create()
  t.after(async () => {
    front.kill()
    await rm(folder, { recursive: true, force: true })
  })
  const replace = (next: readonly ServedCertificate[]): void => {
    certificates = next
  }
  return { front, tlsPort, folder: files.folder, replace, next: create }
}

/** Returns whether a handshake for this host succeeds. */
const isServed = (port: number, servername: string): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false })
  socket.once('secureConnect', () => resolve(true)).once('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}

/** Returns the folders with keys of one installation. Others may run at the same time. */
async function keyFolders(owner: string): Promise<string[]> {
  const prefix = keyFolderPrefix(owner)
  const names = await readdir(dirname(prefix))
  return names.filter((name) => name.startsWith(basename(prefix)))
}

test('the next router adopts HAProxy with its certificates, and sends none of them again', { skip }, async (t) => {
  const { front, tlsPort, replace, next } = await frontBed(t, many(150))
  assert.equal(front.sentCertificates, 0)
  front.leave()
  const later = await next()
  t.after(async () => later.kill())
  assert.equal(later.pid, front.pid)
  replace([...many(149), ...many(1, 500)])
  await later.follow()
  assert.equal(later.sentCertificates, 1)
  assert.deepEqual(
    await Promise.all(['app-0.test', 'app-500.test', 'app-149.test'].map((host) => isServed(tlsPort, host))),
    [true, true, false],
  )
})

test('HAProxy starts without a certificate that it refuses, starts again when it is killed, and leaves no key in a file', {
  skip,
}, async (t) => {
  const broken = { host: 'broken.test', chain: selfSigned.cert, key: 'none' }
  const { front, tlsPort, folder } = await frontBed(t, [...many(30), broken, ...many(20, 30)])
  assert.equal(front.sentCertificates, 1)
  const { pid } = front
  process.kill(pid ?? 0, 'SIGKILL')
  await until('another one runs', () => front.pid !== undefined && front.pid !== pid)
  assert.ok(await isServed(tlsPort, 'app-49.test'))
  assert.ok(!(await isServed(tlsPort, 'other.test')))
  assert.ok(!(await isServed(tlsPort, 'broken.test')))
  await front.follow()
  assert.equal(front.sentCertificates, 1)
  assert.deepEqual(await keyFolders(folder), [])
  assert.doesNotMatch(await readFile(join(folder, 'haproxy.log'), 'utf8'), /PRIVATE|refused/)
})

test('an HAProxy that replaces another one has its certificates from the beginning', { skip }, async (t) => {
  const { front, tlsPort, next } = await frontBed(t, many(150))
  front.leave()
  const later = await next({ perClient: 77 })
  t.after(async () => later.kill())
  assert.notEqual(later.pid, front.pid)
  assert.equal(later.sentCertificates, 0)
  assert.ok(await isServed(tlsPort, 'app-149.test'))
})

test('changes of routes have their turn while many certificates are sent', { skip }, async (t) => {
  const { front, tlsPort, replace } = await frontBed(t, [])
  replace(many(700))
  await front.follow()
  assert.equal(front.sentCertificates, 200)
  await front.follow()
  assert.ok(front.sentCertificates < 700, `${front.sentCertificates}`)
  await until('all are served', () => isServed(tlsPort, 'app-699.test'))
  assert.equal(front.sentCertificates, 700)
  await front.settle()
  assert.equal(front.sentCertificates, 700)
})

test('the certificate of a challenge agrees on its protocol alone, and leaves with it', { skip }, async (t) => {
  const { front, tlsPort, replace, next } = await frontBed(t, many(2))
  const [own] = many(1, 900)
  const challenge = { ...own, key: selfSigned.cert + selfSigned.key, chain: selfSigned.cert + selfSigned.key }
  replace([...many(2), { ...challenge, host: 'app-900.test', protocol: 'acme-tls/1' }])
  await front.follow()
  const shake = async (servername: string, ALPNProtocols: string[]): Promise<string | false | null> => {
    const socket = connect({ host: '127.0.0.1', port: tlsPort, servername, ALPNProtocols, rejectUnauthorized: false })
    socket.on('error', () => {})
    await once(socket, 'secureConnect')
    socket.destroy()
    return socket.alpnProtocol
  }
  assert.equal(await shake('app-900.test', ['acme-tls/1']), 'acme-tls/1')
  assert.notEqual(await shake('app-900.test', ['h2', 'http/1.1']), 'h2')
  assert.equal(await shake('app-1.test', ['h2', 'http/1.1']), 'h2')
  assert.notEqual(await shake('app-1.test', ['acme-tls/1']), 'acme-tls/1')
  front.leave()
  const later = await next()
  t.after(async () => later.kill())
  assert.equal(later.sentCertificates, 0)
  replace(many(2))
  await later.follow()
  await assert.rejects(shake('app-900.test', ['acme-tls/1']))
})

test('a certificate that two routers have listed is removed, and delays nothing', { skip }, async (t) => {
  const { front, tlsPort, folder, replace } = await frontBed(t, many(2))
  const { admin, certificates } = frontFiles(join(dirname(folder), 'control.sock'))
  const listed = await askFront(admin, `show ssl crt-list ${certificates}`)
  const [name = ''] = listed.split('\n').flatMap((line) => (line.includes('app-1.test') ? [line.split(' ')[0]] : []))
  await changeFront(admin, `add ssl crt-list ${certificates} <<\n${name} app-1.test\n`, /Success!/)
  replace(many(1))
  await front.follow()
  assert.ok(await isServed(tlsPort, 'app-0.test'))
  assert.ok(!(await isServed(tlsPort, 'app-1.test')))
  assert.doesNotMatch(await askFront(admin, 'show ssl cert'), /app-1\.test/)
})

test('an HAProxy that is started while its router ends does not stay', { skip }, async (t) => {
  for (const waitMs of [0, 240, 260, 280, 320]) {
    const { front, folder } = await frontBed(t, [])
    process.kill(front.pid ?? 0, 'SIGKILL')
    // The router looks every 250 ms.
    await sleep(waitMs)
    front.kill()
    // Waits for a start that is in progress.
    await front.follow()
    const files = frontFiles(join(dirname(folder), 'control.sock'))
    await until('none runs', async () => (await findHaproxy(files)) === undefined)
  }
})
