import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { candidateIn, librariesIn, withPackagesOf } from './debian-packages.mjs'

/** A file that exists, in place of the keys. */
const keys = fileURLToPath(import.meta.url)

const ofHaproxy = `haproxy
  PreDepends: init-system-helpers
  Depends: libc6
 |Depends: libssl3t64
  Depends: <libssl>
    libssl3t64
  Depends: zlib1g
  Depends: adduser
  Suggests: libdoc
`

test('candidateIn returns the version that can be downloaded', () => {
  assert.equal(candidateIn('haproxy:\n  Installed: (none)\n  Candidate: 3.0.11-1+deb13u4\n'), '3.0.11-1+deb13u4')
  assert.equal(candidateIn('haproxy:\n  Installed: (none)\n  Candidate: (none)\n'), undefined)
  assert.equal(candidateIn(''), undefined)
})

test('librariesIn lists the libraries that are needed, and no other package', () => {
  assert.deepEqual(librariesIn(ofHaproxy), ['libc6', 'libssl3t64', 'zlib1g'])
})

/** @typedef {{ command: string, cwd: string | undefined }} Ran */

/**
 * Answers as apt does for two packages.
 * @param {Ran[]} ran
 * @param {string} [failing]
 * @returns {typeof import('./execute.mjs').execute}
 */
const apt =
  (ran, failing = 'none') =>
  async (program, args, { cwd } = {}) => {
    const command = [program, ...args].join(' ')
    ran.push({ command, cwd })
    if (command.startsWith(failing)) return { code: 100, output: 'Reading\nE: It is not signed.\nN: See the manual.\n' }
    if (command.startsWith('apt-cache policy')) return { code: 0, output: 'haproxy:\n  Candidate: 3.0.11-1\n' }
    if (command.startsWith('apt-cache depends --important haproxy')) return { code: 0, output: ofHaproxy }
    if (command.startsWith('apt-cache depends')) return { code: 0, output: 'libc6\n  Depends: libgcc-s1\nzlib1g\n' }
    if (command.startsWith('apt-get download')) writeFileSync(join(cwd ?? '', 'haproxy.deb'), '')
    return { code: 0, output: '' }
  }

test('packages come from the release alone, signed, and leave the lists of the machine alone', async () => {
  /** @type {Ran[]} */
  const ran = []
  let place = ''
  const run = apt(ran)
  const version = await withPackagesOf(
    { suite: 'trixie' },
    (packages) => {
      const options = ran[0]?.command.split(' -o ').slice(1) ?? []
      const settings = Object.fromEntries(options.map((option) => option.split('=')))
      place = join(settings['Dir::State::Lists'] ?? '', '..')
      const source = readFileSync(settings['Dir::Etc::SourceList'] ?? '', 'utf8')
      assert.equal(source, `deb [signed-by=${keys}] http://deb.debian.org/debian trixie main\n`)
      for (const name of ['Dir::Etc::SourceParts', 'Dir::State::status']) assert.equal(settings[name], '/dev/null')
      return packages.versionOf('haproxy')
    },
    { run, keys },
  )
  assert.equal(version, '3.0.11-1')
  assert.ok(!existsSync(place))
})

test('one package can come from a suite that is newer than the release', () => {
  /** @type {Ran[]} */
  const ran = []
  const release = { suite: 'sid', newer: { suite: 'experimental', name: 'haproxy' } }
  return withPackagesOf(
    release,
    async () => {
      const path = (/** @type {string} */ name) => ran[0]?.command.split(`Dir::Etc::${name}=`)[1]?.split(' ')[0] ?? ''
      const sources = readFileSync(path('SourceList'), 'utf8')
      assert.deepEqual(sources.match(/debian \S+ main/g), ['debian sid main', 'debian experimental main'])
      const pin = 'Package: haproxy\nPin: release a=experimental\nPin-Priority: 990\n'
      assert.equal(readFileSync(path('Preferences'), 'utf8'), pin)
    },
    { run: apt(ran), keys },
  )
})

test('a package is unpacked with the libraries of its libraries', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'quayside-bootstrap-'))
  /** @type {Ran[]} */
  const ran = []
  try {
    await withPackagesOf(
      { suite: 'trixie' },
      async (packages) => {
        const libraries = await packages.librariesOf('haproxy')
        assert.deepEqual(libraries, ['libc6', 'libgcc-s1', 'libssl3t64', 'zlib1g'])
        await packages.unpack(['haproxy', ...libraries], directory)
      },
      { run: apt(ran), keys },
    )
    const download = ran.find(({ command }) => command.startsWith('apt-get download haproxy libc6 libgcc-s1 '))
    const archive = join(download?.cwd ?? '', 'haproxy.deb')
    assert.equal(ran.at(-1)?.command, `dpkg-deb --extract ${archive} ${directory}`)
    assert.ok(!existsSync(archive))
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test('without keys, or if apt refuses, the reason is one line', async () => {
  const never = async () => assert.fail('it was called')
  await assert.rejects(withPackagesOf({ suite: 'trixie' }, never, { run: apt([]), keys: '/nowhere/keys.gpg' }), {
    message: '/nowhere/keys.gpg is missing (apt-get install debian-archive-keyring)',
  })
  await assert.rejects(withPackagesOf({ suite: 'trixie' }, never, { run: apt([], 'apt-get update'), keys }), {
    message: '"apt-get update" failed: E: It is not signed.',
  })
})
