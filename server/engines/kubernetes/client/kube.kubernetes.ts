import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { imageName } from '../../../../test/kubernetes/cluster/build.ts'
import { pki } from '../../../../test/kubernetes/cluster/settings.ts'
import { adminAccess, loopbackGuard, openKube } from '../../../../test/kubernetes/support/access.ts'
import { until } from '../../../../test/support/until.ts'
import { createAddressGuard } from '../../../lib/address.ts'
import { Secret } from '../../../lib/secret.ts'
import { createKube, isKubeError, KubeError, kinds, type Pod } from './index.ts'

const kube = openKube()
const namespace = `client-${randomBytes(4).toString('hex')}`
const limit = (): AbortSignal => AbortSignal.timeout(60_000)
const object = (name: string, data: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, labels: { of: name } },
  data,
})

before(async () => {
  await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, limit())
})
after(async () => {
  await kube.remove(kinds.namespace, { name: namespace }, limit())
  kube.close()
})

test('applies, reads, lists, changes and removes objects', async () => {
  await kube.apply(object('one', { a: '1', b: '2' }), limit())
  await kube.apply(object('one', { a: '1' }), limit())
  const found = await kube.get(kinds.configMap, { namespace, name: 'one' }, limit())
  assert.deepEqual(found?.data, { a: '1' })
  await kube.patch(kinds.configMap, { namespace, name: 'one' }, { data: { a: null, c: '3' } }, limit())
  const { items } = await kube.list(kinds.configMap, { namespace, labels: { of: 'one' } }, limit())
  assert.deepEqual(
    items.map(({ data }) => data),
    [{ c: '3' }],
  )
  assert.equal(await kube.remove(kinds.configMap, { namespace, name: 'one' }, limit(), { uid: 'another' }), false)
  assert.equal(await kube.remove(kinds.configMap, { namespace, name: 'one' }, limit()), true)
  assert.equal(await kube.remove(kinds.configMap, { namespace, name: 'one' }, limit()), false)
  assert.equal(await kube.get(kinds.configMap, { namespace, name: 'one' }, limit()), undefined)
})

test('refuses unknown fields, a second creation, and fields of another manager unless forced', async () => {
  const wrong = { ...object('strict', {}), date: 'today' }
  await assert.rejects(
    kube.apply(wrong, limit()),
    (error) => isKubeError(error, 400, 422, 500) && /date/.test(error.message),
  )
  await kube.create(object('theirs', { a: '1' }), limit())
  await assert.rejects(kube.create(object('theirs', { a: '1' }), limit()), { status: 409, reason: 'AlreadyExists' })
  await kube.patch(kinds.configMap, { namespace, name: 'theirs' }, { data: { a: '2' } }, limit())
  const taken = kube.apply(object('theirs', { a: '3' }), limit(), { force: false })
  await assert.rejects(taken, { status: 409, reason: 'Conflict' })
  await kube.apply(object('theirs', { a: '4' }), limit(), { dryRun: true })
  assert.equal((await kube.get(kinds.configMap, { namespace, name: 'theirs' }, limit()))?.data?.['a'], '2')
})

test('lists more objects than a page has', async () => {
  const names = Array.from({ length: 520 }, (_, index) => `many-${index}`)
  for (let from = 0; from < names.length; from += 40) {
    await Promise.all(names.slice(from, from + 40).map((name) => kube.create(object(name, {}), limit())))
  }
  const { items } = await kube.list(kinds.configMap, { namespace }, limit())
  assert.equal(items.filter(({ metadata }) => metadata.name.startsWith('many-')).length, names.length)
})

test('watches changes after a list, and ends when it is aborted', async () => {
  const { resourceVersion } = await kube.list(kinds.configMap, { namespace }, limit())
  const end = new AbortController()
  const seen: string[] = []
  const watching = (async () => {
    const selection = { namespace, labels: { of: 'watched' }, resourceVersion }
    for await (const { type, object: changed } of kube.watch(kinds.configMap, selection, end.signal)) {
      seen.push(`${type} ${changed.data?.['a']}`)
    }
  })()
  await kube.apply(object('watched', { a: '1' }), limit())
  await kube.apply(object('watched', { a: '2' }), limit())
  await kube.remove(kinds.configMap, { namespace, name: 'watched' }, limit())
  await until('three changes', () => seen.length === 3)
  assert.deepEqual(seen, ['ADDED 1', 'MODIFIED 2', 'DELETED 2'])
  end.abort(new Error('enough'))
  await assert.rejects(watching, /enough/)
})

test('a watch from a version that is too old expires', async () => {
  const watching = kube.watch(kinds.configMap, { namespace, resourceVersion: '1' }, limit())
  await assert.rejects(watching.next(), { reason: 'Expired', status: 410 })
})

const pod = (name: string, command: readonly string[]) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'main', image: imageName('busybox'), imagePullPolicy: 'Never', command }],
  },
})

async function startPod(name: string, script: string) {
  await kube.apply<Pod>(pod(name, ['sh', '-c', script]), limit())
  await until(`${name} runs`, async () => {
    return (await kube.get(kinds.pod, { namespace, name }, limit()))?.status?.containerStatuses?.[0]?.state?.running
  })
  return { namespace, pod: name, container: 'main' }
}

test('reads lines with their times, and follows them until it is aborted', async () => {
  const place = await startPod('lines', 'echo one; echo two; sleep 3600')
  await until('both lines are there', async () => {
    const lines = await text(await kube.log(place, { follow: false }, limit()))
    return /^\S+\.\d+Z one\n\S+Z two\n$/.test(lines)
  })
  const end = new AbortController()
  const followed = await kube.log(place, { follow: true }, end.signal)
  await once(followed, 'data')
  end.abort(new Error('enough'))
  await assert.rejects(text(followed))
  await assert.rejects(kube.log({ ...place, pod: 'missing' }, { follow: false }, limit()), { status: 404 })
})

test('runs commands with input, both outputs and the exit code', async () => {
  const place = await startPod('exec', 'sleep 3600')
  const plain = { hasTerminal: false, hasInput: false }
  const failing = await kube.exec(place, ['sh', '-c', 'echo out; echo err >&2; exit 7'], plain, limit())
  assert.deepEqual(await Promise.all([text(failing.stdout), text(failing.stderr), failing.exitCode()]), [
    'out\n',
    'err\n',
    7,
  ])
  const echoing = await kube.exec(place, ['cat'], { ...plain, hasInput: true }, limit())
  const content = 'sésame 漢字\n'.repeat(100_000)
  echoing.stdin.end(content)
  assert.equal(await text(echoing.stdout), content)
  assert.equal(await echoing.exitCode(), 0)
  const missing = await kube.exec(place, ['no-such-program'], plain, limit())
  await assert.rejects(missing.exitCode(), /no-such-program/)
  await assert.rejects(kube.exec({ ...place, pod: 'missing' }, ['true'], plain, limit()), { status: 404 })
  await assert.rejects(kube.exec(place, ['true'], plain, AbortSignal.abort(new Error('enough'))), /enough/)
})

test('a slow reader of an output is waited for', async () => {
  const place = await startPod('much', 'sleep 3600')
  const { stdout } = await kube.exec(
    place,
    ['dd', 'if=/dev/zero', 'bs=1M', 'count=200'],
    { hasTerminal: false, hasInput: false },
    limit(),
  )
  await once(stdout, 'readable')
  await new Promise(setImmediate)
  assert.ok(stdout.readableLength < 32 * 1024 * 1024, `${stdout.readableLength} bytes are kept`)
  let length = 0
  for await (const piece of stdout) length += piece.length
  assert.equal(length, 200 * 1024 * 1024)
})

test('a terminal has a size, and takes another one', async () => {
  const place = await startPod('terminal', 'sleep 3600')
  const terminal = await kube.exec(place, ['sh'], { hasTerminal: true, hasInput: true }, limit())
  let output = ''
  terminal.stdout.on('data', (piece: Buffer) => {
    output += piece.toString()
  })
  await terminal.resize(93, 31)
  terminal.stdin.write('stty size\n')
  await until('its size', () => output.includes('31 93'))
  terminal.stdin.write('exit 5\n')
  assert.equal(await terminal.exitCode(), 5)
})

test('connects to a port of a pod, and says if nothing listens', async () => {
  const place = await startPod('listening', 'while true; do echo hello | nc -l -p 8080; done')
  await until('an answer', async () => {
    const stream = await kube.portForward(place, 8080, limit())
    return (await text(stream).catch(() => '')) === 'hello\n'
  })
  const silent = await kube.portForward(place, 9999, limit())
  await assert.rejects(text(silent), /refused/)
})

test('a wrong authority, refused credentials and a refused address are errors that say so', async (t) => {
  const failing = (change: Parameters<typeof openKube>[0], guard?: Parameters<typeof openKube>[1]) => {
    const client = openKube(change, guard)
    t.after(() => client.close())
    return client.version(limit()).then(
      () => assert.fail('it answered'),
      (error: unknown) => {
        assert.ok(error instanceof KubeError, String(error))
        return error
      },
    )
  }
  const { certificate } = await adminAccess()
  assert.equal((await failing({ authority: certificate })).reason, 'Certificate')
  const token = new Secret('canary-token')
  const refused = await failing({ certificate: undefined, key: undefined, token })
  assert.equal(refused.status, 401)
  assert.doesNotMatch(JSON.stringify(refused) + refused.message, /canary/)
  assert.equal((await failing({}, createAddressGuard({ allowedPrivateCidrs: [] }))).reason, 'Refused')
  assert.equal(
    (await failing({ server: 'https://localhost:6443' }, createAddressGuard({ allowedPrivateCidrs: [] }))).reason,
    'Refused',
  )
  assert.equal((await failing({ server: 'https://127.0.0.1:1' })).reason, 'Unreachable')
})

test('a server that never answers ends a request in time, and a redirect is not followed', async (t) => {
  const [cert, key] = await Promise.all(['apiserver.crt', 'apiserver.key'].map((name) => readFile(join(pki, name))))
  const server = createServer({ cert, key }, (asked, answer) => {
    if (asked.url === '/version') answer.writeHead(302, { location: 'https://127.0.0.1:6443/version' }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  // The server listens on TCP, so its address is an object.
  const { port } = server.address() as AddressInfo
  const access = { server: `https://127.0.0.1:${port}`, authority: (await adminAccess()).authority }
  const client = createKube({ access: async () => access, guard: loopbackGuard })
  t.after(() => client.close())
  await assert.rejects(client.version(limit()), (error) => error instanceof KubeError)
  const cancelled = client.get(kinds.namespace, { name: 'default' }, AbortSignal.timeout(300))
  await assert.rejects(cancelled, { name: 'TimeoutError' })
})
