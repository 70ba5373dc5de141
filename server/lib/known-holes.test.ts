import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engineVersions, installedPackages } from './engine-versions.ts'
import { holes } from './known-hole-table.ts'
import { type Component, type EngineVersions, holesOf, reachableHolesOf, safeVersions } from './known-holes.ts'

const idsOf = (versions: EngineVersions): string[] => holesOf(versions).map(({ id }) => id)
const only = (component: Component, version: string, named?: string): EngineVersions => ({
  [component]: { version, ...(named && { package: named }) },
})

/** The answer of Debian 12. */
const debian = {
  Components: [
    { Name: 'Engine', Version: '20.10.24+dfsg1', Details: { GitCommit: '5d6db84' } },
    { Name: 'containerd', Version: '1.6.20~ds1', Details: { GitCommit: '1.6.20~ds1-1+deb12u3' } },
    { Name: 'runc', Version: '1.1.5+ds1', Details: { GitCommit: '1.1.5+ds1-1+deb12u1' } },
    { Name: 'docker-init', Version: '0.19.0', Details: { GitCommit: '' } },
  ],
}

test('holesOf finds the holes of BuildKit in engines below 25.0.2, also in 24.0.9', () => {
  for (const version of ['20.10.24', '23.0.15', '24.0.9', '24.0.99', '25.0.0', '25.0.1'])
    assert.ok(idsOf(only('engine', version)).includes('CVE-2024-23651'), version)
  for (const version of ['25.0.2', '26.0.0', '29.7.0'])
    assert.ok(!idsOf(only('engine', version)).includes('CVE-2024-23651'), version)
})

test('holesOf judges a BuildKit of known version by that and not by the engine', () => {
  const both = (buildkit: string) => ({ engine: { version: '20.10.24' }, buildkit: { version: buildkit } })
  assert.ok(idsOf(both('v0.12.4')).includes('CVE-2024-23652'))
  assert.ok(!idsOf(both('v0.12.5')).includes('CVE-2024-23652'))
  assert.deepEqual(
    reachableHolesOf(both('v0.34.2')).filter(({ component }) => component === 'buildkit'),
    [],
  )
})

test('holesOf compares within a release line, and release candidates', () => {
  const has = (version: string): boolean => idsOf(only('runc', version)).includes('CVE-2025-31133')
  for (const version of ['1.0.3', '1.1.15+ds1', '1.2.7', '1.3.0', '1.3.2', '1.4.0-rc.2'])
    assert.ok(has(version), version)
  for (const version of ['1.2.8', '1.2.10', '1.3.3', '1.4.0-rc.3', '1.4.0', '1.5.0', '2.0.0'])
    assert.ok(!has(version), version)
  assert.ok(idsOf(only('runc', '1.0.0~rc6+dfsg1')).includes('CVE-2019-5736'))
  assert.ok(!idsOf(only('runc', '1.0.0~rc7+dfsg1')).includes('CVE-2019-5736'))
})

test('holesOf accepts the fixes of Debian by the revision of the package', () => {
  const has = (named?: string): boolean => idsOf(only('runc', '1.1.5+ds1', named)).includes('CVE-2024-21626')
  assert.ok(has())
  assert.ok(has('1.1.5+ds1-1'))
  assert.ok(!has('1.1.5+ds1-1+deb12u1'))
  assert.ok(!has('1.1.5+ds1-1+deb12u2'))
  // A package of another version proves nothing.
  assert.ok(idsOf(only('runc', '1.1.4+ds1', '1.1.4+ds1-9')).includes('CVE-2024-21626'))
})

test('engineVersions reads the revisions of Debian from the engine and from dpkg', () => {
  const packages = installedPackages('docker.io 20.10.24+dfsg1-1+deb12u1+b6\nrunc 1.0-1\nnonsense\nbash 5.2-1\n')
  assert.deepEqual(engineVersions(debian, packages), {
    engine: { version: '20.10.24+dfsg1', package: '20.10.24+dfsg1-1+deb12u1+b6' },
    containerd: { version: '1.6.20~ds1', package: '1.6.20~ds1-1+deb12u3' },
    runc: { version: '1.1.5+ds1', package: '1.1.5+ds1-1+deb12u1' },
  })
})

test('engineVersions ignores a package whose version the engine does not report', () => {
  const answer = { Components: [{ Name: 'Engine', Version: '28.2.2', Details: { GitCommit: 'e6534b4' } }] }
  const packages = installedPackages('docker.io 20.10.24+dfsg1-1+deb12u1\n')
  assert.deepEqual(engineVersions(answer, packages), { engine: { version: '28.2.2' } })
})

test('engineVersions reads nothing from answers of another shape', () => {
  for (const answer of [
    undefined,
    null,
    7,
    '',
    [],
    {},
    { Components: 'x' },
    { Components: [null, 4, { Name: 'runc' }] },
  ])
    assert.deepEqual(engineVersions(answer), {})
})

test('the engine of Debian 12 has holes in BuildKit and runc, and none in containerd', () => {
  const packages = installedPackages('docker.io 20.10.24+dfsg1-1+deb12u1+b6\n')
  const found = reachableHolesOf(engineVersions(debian, packages))
  const ids = (component: Component): string[] =>
    found.filter((hole) => hole.component === component).map(({ id }) => id)
  assert.deepEqual(ids('buildkit'), ['CVE-2024-23651', 'CVE-2024-23652'])
  assert.deepEqual(ids('runc'), [
    'CVE-2024-45310',
    'CVE-2025-31133',
    'CVE-2025-52565',
    'CVE-2025-52881',
    'CVE-2026-41579',
  ])
  assert.deepEqual(ids('containerd'), [])
  assert.deepEqual(ids('engine'), ['CVE-2026-41568', 'CVE-2026-42306', 'CVE-2026-17106'])
})

test('safeVersions returns versions without a hole that tenants can reach', () => {
  assert.deepEqual(safeVersions('runc'), ['1.3.6', '1.4.3'])
  assert.deepEqual(safeVersions('engine'), ['29.7.0'])
  assert.deepEqual(safeVersions('buildkit'), ['0.31.2'])
})

test('each hole has one row, a source and versions that can be read', () => {
  assert.equal(new Set(holes.map(({ id }) => id)).size, holes.length)
  for (const { id, source, fixed, fixedInEngine = [], fixedInDebian = [] } of holes) {
    assert.match(source, /^https:\/\//, id)
    assert.ok(fixed.length > 0, id)
    for (const version of [...fixed, ...fixedInEngine]) assert.match(version, /^\d+\.\d+\.\d+(-rc\.?\d+)?$/, id)
    for (const version of fixedInDebian) assert.match(version, /^\d.*-\d/, id)
  }
})
