import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock as clock } from '../lib/clock.ts'
import { isOlder, parseVersion } from './check.ts'
import { examine } from './examine.ts'
import type { EngineFact, Facts } from './facts.ts'
import { availableBytes, gatherFacts, parseRange } from './gather.ts'

const gibibyte = 1024 ** 3
const engine: Extract<EngineFact, { state: 'answers' }> = {
  state: 'answers',
  version: '29.7.0',
  versions: { engine: { version: '29.7.0' }, runc: { version: '1.4.3' }, containerd: { version: '2.3.2' } },
  liveRestore: true,
  storageDriver: 'overlay2',
  backingFilesystem: 'xfs',
  layerQuota: { isEnforced: true, countsImage: false, by: 'overlay2 on xfs with project quotas' },
  skewMs: 0,
  builder: { hasImage: false },
}
const port = { setting: 'QUAYSIDE_PORT', host: '127.0.0.1', port: 3000, state: 'free' } as const
const disk = {
  path: '/data',
  totalBytes: 100 * gibibyte,
  freeBytes: 50 * gibibyte,
  totalInodes: 1000,
  freeInodes: 900,
}
const domain = { name: 'quayside-check.example.org', addresses: ['192.0.2.1'], ownAddresses: ['192.0.2.1'] }
const secret = { path: '/data/master.key', kind: 'secret', mode: 0o100600, owner: 'own' } as const
/** As Kubernetes mounts it for a group. */
const mounted = { ...secret, mode: 0o100440, owner: 'group' } as const
const good: Facts = {
  nodeVersion: '24.21.0',
  isRoot: true,
  unknownSettings: [],
  ports: [port],
  publicPorts: { first: 30_000, last: 30_999 },
  outgoingPorts: { first: 32_768, last: 60_999 },
  disks: [disk],
  memory: { totalBytes: 4 * gibibyte, availableBytes: 2 * gibibyte },
  kernel: '6.1.0-28-amd64',
  cgroupVersion: 2,
  gitVersion: '2.47.3',
  missingFilters: [],
  engine,
  domain,
  clock: { isSynchronized: true, nowMs: Date.UTC(2026, 5, 1), jumpMs: 0 },
  haproxy: { program: 'haproxy', said: 'HAProxy version 2.6.12-1+deb12u2 2025/04/16 - https://haproxy.org/\n' },
  files: [{ path: '/data', kind: 'directory', mode: 0o40711, owner: 'own' }, secret],
}

test('a machine without problems needs no remedy', () => {
  const findings = examine(good)
  assert.deepEqual(
    findings.filter(({ status, remedy }) => status !== 'ok' || remedy !== undefined),
    [],
  )
})

/** Problems, each with the check that reports it and its status. */
const wrong: readonly (readonly [string, 'warn' | 'fail', string, Partial<Facts>])[] = [
  ['settings', 'fail', 'an invalid setting', { settingsProblem: 'QUAYSIDE_PORT must be a number.' }],
  ['settings', 'warn', 'a misspelled setting', { unknownSettings: ['QUAYSIDE_PROT'] }],
  ['node', 'fail', 'an old Node.js', { nodeVersion: '22.1.0' }],
  ['port', 'fail', 'a port that another program has', { ports: [{ ...port, state: 'taken' }] }],
  ['port', 'fail', 'a port that cannot be opened', { ports: [{ ...port, state: 'problem' }] }],
  ['public ports', 'warn', 'public ports among outgoing ones', { outgoingPorts: { first: 1024, last: 65_535 } }],
  ['disk', 'warn', 'a disk that is nearly full', { disks: [{ ...disk, freeBytes: 4 * gibibyte }] }],
  ['disk', 'fail', 'a full disk', { disks: [{ ...disk, freeBytes: gibibyte / 2 }] }],
  ['inodes', 'warn', 'few inodes', { disks: [{ ...disk, freeInodes: 40 }] }],
  ['inodes', 'fail', 'no inodes', { disks: [{ ...disk, freeInodes: 4 }] }],
  ['memory', 'fail', 'a tiny machine', { memory: { totalBytes: gibibyte / 2, availableBytes: gibibyte / 2 } }],
  ['memory', 'warn', 'a small machine', { memory: { totalBytes: gibibyte, availableBytes: gibibyte } }],
  ['memory', 'warn', 'memory in use', { memory: { totalBytes: 8 * gibibyte, availableBytes: 1000 } }],
  ['kernel', 'warn', 'an old kernel', { kernel: '4.15.0-20-generic' }],
  ['control groups', 'warn', 'no control groups', { cgroupVersion: undefined }],
  ['engine', 'fail', 'no engine', { engine: { state: 'silent', socket: '/run/docker.sock', reason: 'ENOENT' } }],
  ['engine', 'fail', 'an old engine', { engine: { ...engine, version: '19.03.15' } }],
  ['engine', 'warn', 'an engine with moby#45057', { engine: { ...engine, version: '20.10.24+dfsg1' } }],
  ['engine', 'warn', 'another engine with moby#45057', { engine: { ...engine, version: '23.0.1' } }],
  [
    'engine holes',
    'warn',
    'holes of an engine',
    { engine: { ...engine, versions: { engine: { version: '29.6.2' } } } },
  ],
  [
    'buildkit',
    'warn',
    'holes of a BuildKit',
    { engine: { ...engine, versions: { engine: { version: '29.7.0' }, buildkit: { version: 'v0.12.4' } } } },
  ],
  [
    'builder',
    'warn',
    'a kernel without user namespaces for ordinary users',
    { engine: { ...engine, builder: { hasImage: true, deniedBy: 'user.max_user_namespaces=0' } } },
  ],
  ['runc', 'warn', 'holes of runc', { engine: { ...engine, versions: { runc: { version: '1.2.7' } } } }],
  [
    'containerd',
    'warn',
    'holes of containerd',
    { engine: { ...engine, versions: { containerd: { version: '1.7.28' } } } },
  ],
  ['live-restore', 'warn', 'containers that end with the engine', { engine: { ...engine, liveRestore: false } }],
  ['storage driver', 'warn', 'a bad storage driver', { engine: { ...engine, storageDriver: 'vfs' } }],
  [
    'layer limits',
    'warn',
    'layers without limits',
    { engine: { ...engine, layerQuota: { isEnforced: false, because: 'overlay2 on extfs has no limits of layers' } } },
  ],
  ['packet filter', 'warn', 'a server without root', { isRoot: false }],
  ['packet filter', 'warn', 'no ebtables', { missingFilters: ['ebtables'] }],
  ['haproxy', 'fail', 'no HAProxy', { haproxy: { program: 'haproxy', reason: 'there is no such program' } }],
  [
    'haproxy',
    'fail',
    'an old HAProxy',
    { haproxy: { program: 'haproxy', said: 'HA-Proxy version 2.2.9-2+deb11u6 2023/12/11\n' } },
  ],
  ['haproxy', 'fail', 'another program', { haproxy: { program: 'nginx', said: 'nginx version: nginx/1.22.1\n' } }],
  ['haproxy', 'fail', 'a silent program', { haproxy: { program: 'true', said: '' } }],
  ['http3', 'warn', 'HTTP/3 with an old HAProxy', { http3: { tlsPort: 443, proxies: [] } }],
  ['http3', 'warn', 'HTTP/3 without HAProxy', { http3: { tlsPort: 443, proxies: [] }, haproxy: undefined }],
  ['git', 'fail', 'no git', { gitVersion: undefined }],
  ['git', 'warn', 'a git with known holes', { gitVersion: '2.39.2' }],
  ['git', 'warn', 'a newer git with known holes', { gitVersion: '2.45.0' }],
  ['git', 'warn', 'a very old git', { gitVersion: '2.25.1' }],
  ['domain', 'warn', 'a domain without an address', { domain: { ...domain, addresses: [] } }],
  ['domain', 'warn', 'a domain with another address', { domain: { ...domain, addresses: ['198.51.100.1'] } }],
  [
    'domain',
    'warn',
    'a domain with one other address',
    { domain: { ...domain, addresses: ['192.0.2.1', '2001:db8::1'] } },
  ],
  [
    'domain',
    'warn',
    'an address at which the router does not listen',
    {
      domain: { ...domain, addresses: ['192.0.2.1', '2001:db8::1'], ownAddresses: ['192.0.2.1', '2001:db8::1'] },
      ports: [{ ...port, setting: 'QUAYSIDE_ROUTER_PORT', host: '0.0.0.0' }],
    },
  ],
  ['clock', 'fail', 'a clock of another century', { clock: { ...good.clock, nowMs: 0 } }],
  ['clock', 'warn', 'a clock that jumps', { clock: { ...good.clock, jumpMs: -5000 } }],
  ['clock', 'warn', 'an unsynchronized clock', { clock: { ...good.clock, isSynchronized: false } }],
  ['clock', 'warn', 'an engine with another clock', { engine: { ...engine, skewMs: 60_000 } }],
  ['permissions', 'fail', 'a key that others may read', { files: [{ ...secret, mode: 0o100644 }] }],
  [
    'permissions',
    'fail',
    'a directory that others may change',
    { files: [{ ...secret, kind: 'directory', mode: 0o40777 }] },
  ],
  ['permissions', 'fail', "another user's file", { files: [{ ...secret, owner: 'other' }] }],
  ['permissions', 'fail', 'a mounted key that others may read', { files: [{ ...mounted, mode: 0o100444 }] }],
  ['permissions', 'fail', 'a mounted key that its group may change', { files: [{ ...mounted, mode: 0o100460 }] }],
  [
    'permissions',
    'fail',
    'a volume that others may change',
    { files: [{ ...mounted, kind: 'directory', mode: 0o42777 }] },
  ],
]
for (const [check, status, what, change] of wrong) {
  test(`${check} is "${status}" for ${what}, with one remedy`, () => {
    const found = examine({ ...good, ...change }).filter((finding) => finding.status !== 'ok')
    assert.deepEqual(
      found.map((finding) => [finding.check, finding.status]),
      [[check, status]],
    )
    assert.ok(found[0]?.remedy)
  })
}

test('every check can fail', () => {
  const failing = new Set(wrong.map(([check]) => check))
  assert.deepEqual(
    examine(good)
      .map(({ check }) => check)
      .filter((check) => !failing.has(check)),
    [],
  )
})

test('a fixed engine, a patched git and a machine without inodes or a clock service have no problems', () => {
  for (const change of [
    { engine: { ...engine, version: '20.10.26' } },
    { engine: { ...engine, version: '20.10.22' } },
    { gitVersion: '2.39.5' },
    { disks: [{ ...disk, totalInodes: 0, freeInodes: 0 }] },
    { clock: { ...good.clock, isSynchronized: undefined } },
    { domain: undefined },
    { outgoingPorts: undefined },
    { ports: [{ ...port, state: 'own' as const }] },
    {
      domain: { ...domain, addresses: ['192.0.2.1', '2001:db8::1'], ownAddresses: ['192.0.2.1', '2001:db8::1'] },
      ports: [{ ...port, setting: 'QUAYSIDE_ROUTER_PORT' as const, host: '::' }],
    },
    { files: [mounted, { ...mounted, kind: 'directory' as const, mode: 0o42775 }] },
    { haproxy: undefined },
    { haproxy: { program: 'haproxy', said: 'HAProxy version 3.2.26-1 2026/11/02 - https://haproxy.org/\n' } },
    { haproxy: { program: 'haproxy', said: 'HAProxy version 2.6-dev3\n' } },
    {
      haproxy: { program: 'haproxy', said: 'HAProxy version 3.2.26-1 2026/11/02\nFeature list : +QUIC\n' },
      http3: { tlsPort: 443, proxies: [] },
    },
    { engine: { state: 'none' as const }, isRoot: false, domain: { ...domain, addresses: ['198.51.100.1'] } },
  ])
    assert.ok(
      examine({ ...good, ...change }).every(({ status }) => status === 'ok'),
      JSON.stringify(change),
    )
})

test('versions are compared by number', () => {
  assert.deepEqual(parseVersion('20.10.24+dfsg1'), [20, 10, 24])
  assert.ok(isOlder('2.9.1', '2.39.0') && !isOlder('2.39.0', '2.39.0') && !isOlder('unknown', '1.0.0'))
})

test('output of the kernel is parsed', () => {
  assert.deepEqual(parseRange('32768\t60999\n'), { first: 32_768, last: 60_999 })
  assert.equal(parseRange(''), undefined)
  assert.equal(availableBytes('MemTotal: 10 kB\nMemAvailable:  2048 kB\n'), 2 * 1024 ** 2)
})

test('a problem with a port of HTTPS names every setting that keeps HTTPS', () => {
  const [plain, secure] = [
    { ...port, setting: 'QUAYSIDE_ROUTER_PORT', port: 80 },
    { ...port, setting: 'QUAYSIDE_ROUTER_TLS_PORT', port: 443 },
  ] as const
  const allThree = /QUAYSIDE_ROUTER_HOST, QUAYSIDE_ROUTER_PORT and QUAYSIDE_ROUTER_TLS_PORT, all three/
  const remedyOf = (facts: Partial<Facts>): string => {
    const [found] = examine({ ...good, ...facts }).filter(({ status }) => status === 'fail')
    assert.equal(found?.check, 'port')
    return found.remedy ?? ''
  }
  assert.match(remedyOf({ ports: [{ ...plain, state: 'taken' }, secure] }), allThree)
  assert.match(remedyOf({ ports: [plain, { ...secure, state: 'taken' }] }), allThree)
  assert.match(remedyOf({ ports: [{ ...plain, state: 'taken' }] }), /set QUAYSIDE_ROUTER_PORT to another port/)
  const forbidden = remedyOf({ ports: [plain, { ...secure, state: 'problem' }], isRoot: false })
  assert.match(
    forbidden,
    /^Run as root, allow the port with sysctl -w net\.ipv4\.ip_unprivileged_port_start=443, or set/,
  )
})

test('facts of this machine are collected: a used port, a readable key, a silent engine', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-doctor-'))
  const server = createServer().listen(0, '127.0.0.1')
  t.after(async () => {
    server.close()
    await rm(directory, { recursive: true })
  })
  await new Promise((resolve) => server.once('listening', resolve))
  const bound = server.address()
  const taken = typeof bound === 'object' && bound ? bound.port : 0
  const masterKeyFile = join(directory, 'master.key')
  await writeFile(masterKeyFile, '')
  await chmod(masterKeyFile, 0o644)
  const settings = {
    dataDirectory: directory,
    masterKeyFile,
    tokenPepperFile: join(directory, 'token.pepper'),
    host: '127.0.0.1',
    port: taken,
    routerHost: '192.0.2.7',
    routerPort: 8080,
    routerTls: { port: taken },
    publicPorts: good.publicPorts,
    domain: 'localhost',
    dockerSocket: join(directory, 'none.sock'),
    haproxy: join(directory, 'haproxy'),
    http3: true,
    trustedProxies: [],
    proxyProtocol: [],
  }
  const facts = await gatherFacts({ settings, clock, unknownSettings: [], isRunning: false })
  assert.deepEqual(
    facts.ports.map(({ state }) => state),
    ['taken', 'problem', 'problem'],
  )
  const failed = examine(facts).filter(({ status }) => status === 'fail')
  const checks = failed.map(({ check }) => check)
  for (const check of ['port', 'permissions', 'engine', 'haproxy']) assert.ok(checks.includes(check), checks.join())
  assert.ok(facts.disks[0] && facts.disks[0].totalBytes > 0 && facts.memory.availableBytes > 0 && facts.gitVersion)
  const own = await gatherFacts({ settings, clock, unknownSettings: [], isRunning: true })
  assert.equal(own.ports[0]?.state, 'own')
})

test('a component with holes is reported with each hole, its source and the version to install', () => {
  const versions = { engine: { version: '20.10.24+dfsg1' }, runc: { version: '1.1.5+ds1', package: '1.1.5+ds1-1' } }
  const findings = examine({ ...good, engine: { ...engine, versions } })
  const lineOf = (check: string): string => {
    const { message, remedy } = findings.find((finding) => finding.check === check) ?? {}
    return `${message} ${remedy}`
  }
  const own = examine({ ...good, engine: { ...engine, versions, builder: { hasImage: true } } })
  const unused = own.find(({ check }) => check === 'buildkit')
  assert.equal(unused?.status, 'ok')
  assert.match(unused?.message ?? '', /known holes, and no build runs on it/)
  const buildkit = lineOf('buildkit')
  assert.match(
    buildkit,
    /^The BuildKit inside of the Docker Engine 20\.10\.24\+dfsg1 has known holes: CVE-2024-23651: /,
  )
  assert.match(buildkit, /GHSA-m3r6-h7wv-7xxv\); CVE-2024-23652: .* Install Docker Engine 29\.7\.0 or newer from/)
  const runc = lineOf('runc')
  assert.match(runc, /^runc 1\.1\.5\+ds1-1 has known holes: CVE-2024-21626: /)
  assert.match(runc, / Install runc 1\.3\.6 of the older lines, or 1\.4\.3 or newer\./)
})

test('a hole in a part that the platform does not use is named and needs no remedy', () => {
  const versions = { containerd: { version: '1.6.20~ds1', package: '1.6.20~ds1-1+deb12u3' } }
  const found = examine({ ...good, engine: { ...engine, versions } }).find(({ check }) => check === 'containerd')
  assert.equal(found?.status, 'ok')
  assert.match(found?.message ?? '', /CVE-2026-53488/)
})
