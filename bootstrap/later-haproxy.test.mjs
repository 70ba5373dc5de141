import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { bringLaterHaproxy, isBranchOf, librariesOutside, versionIn, whyNoLaterHaproxy } from './later-haproxy.mjs'
import { Refusal } from './progress.mjs'

const trixie = { suite: 'trixie', name: 'Debian 13' }
const program = join('usr', 'sbin', 'haproxy')

/** @typedef {Parameters<typeof bringLaterHaproxy>[1]} Options */

/**
 * Calls `work` with a cache and with what runs in place of apt, patchelf and the loader.
 * @param {(bench: {
 *   cache: string,
 *   ran: string[],
 *   said: string[],
 *   bring: (more?: Partial<Options> & { version?: string, listed?: string, reason?: string }) =>
 *     ReturnType<typeof bringLaterHaproxy>,
 * }) => Promise<void>} work
 */
async function onMachine(work) {
  const cache = mkdtempSync(join(tmpdir(), 'quayside-bootstrap-'))
  /** @type {string[]} */
  const ran = []
  /** @type {string[]} */
  const said = []
  const packages = {
    librariesOf: async () => ['libc6'],
    /** @type {(names: string[], directory: string) => Promise<void>} */
    unpack: async (names, directory) => {
      ran.push(`unpack ${names.join(' ')}`)
      mkdirSync(dirname(join(directory, program)), { recursive: true })
      writeFileSync(join(directory, program), '')
    },
  }
  try {
    await work({
      cache,
      ran,
      said,
      bring: ({ version = '3.0.11-1', listed = '', reason, ...more } = {}) =>
        bringLaterHaproxy(trixie, {
          installed: '2.6.12',
          patchelf: 'patchelf',
          cache,
          say: (text) => void said.push(text),
          run: async (name, args) => {
            ran.push([name, ...args].join(' '))
            return { code: 0, output: args[0] === '--list' ? listed : '' }
          },
          withPackages: ({ suite }, useThem) => {
            assert.equal(suite, 'trixie')
            if (reason !== undefined) throw new Refusal(reason)
            return useThem({ ...packages, versionOf: async () => version })
          },
          ...more,
        }),
    })
  } finally {
    rmSync(cache, { recursive: true })
  }
}

test('the HAProxy of another release uses its own loader and libraries, and is made once', () =>
  onMachine(async ({ cache, ran, bring }) => {
    const place = join(cache, 'haproxy-trixie-3.0.11-1')
    assert.deepEqual(await bring(), { program: join(place, program), version: '3.0.11-1' })
    assert.ok(existsSync(join(place, program)))
    assert.equal(ran[0], 'unpack haproxy libc6')
    const loader = join(place, 'usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2')
    assert.ok(ran[1]?.startsWith(`patchelf --set-interpreter ${loader} --force-rpath --set-rpath $ORIGIN/../lib/`))
    const before = ran.length
    await bring()
    assert.equal(ran.length, before)
    assert.deepEqual(readdirSync(cache), ['haproxy-trixie-3.0.11-1'])
  }))

test('a program that would use libraries of this machine is not kept', () =>
  onMachine(async ({ cache, bring }) => {
    await assert.rejects(bring({ listed: '\tlibssl.so.3 => /usr/lib/libssl.so.3 (0x1)\n\tlibz.so.1 => not found\n' }), {
      message: 'its packages lack libraries: libssl.so.3, libz.so.1',
    })
    assert.deepEqual(readdirSync(cache), [])
  }))

test('a machine whose HAProxy is of that branch or a later one needs no other', () =>
  onMachine(async ({ ran, bring }) => {
    for (const installed of ['3.0.5', '3.2.26', '4.0']) assert.equal(await bring({ installed }), undefined)
    assert.deepEqual(ran, [])
    assert.notEqual(await bring({ installed: undefined }), undefined)
  }))

test('without the lists of packages, the HAProxy that was fetched last is used', () =>
  onMachine(async ({ cache, said, bring }) => {
    await assert.rejects(bring({ reason: 'no network' }), { message: 'no network' })
    await bring()
    mkdirSync(join(cache, 'haproxy-trixie-3.0.12-1.half-x'))
    assert.equal((await bring({ reason: 'no network' }))?.version, '3.0.11-1')
    assert.match(said.join(), /not updated: no network\. Tests use 3\.0\.11-1, which was fetched before\.$/)
    assert.equal(await bring({ reason: 'no network', installed: '3.0.5' }), undefined)
  }))

test('a machine without apt, or with another processor, cannot run it', () => {
  assert.equal(whyNoLaterHaproxy({ isApt: true, arch: 'x64', has: () => true }), undefined)
  assert.match(whyNoLaterHaproxy({ isApt: false, arch: 'x64', has: () => true }) ?? '', /apt/)
  assert.match(whyNoLaterHaproxy({ isApt: true, arch: 'arm64', has: () => true }) ?? '', /arm64/)
  assert.match(whyNoLaterHaproxy({ isApt: true, arch: 'x64', has: () => false }) ?? '', /dpkg-deb/)
})

test('librariesOutside lists what the loader found elsewhere or not at all', () => {
  const text = `\tlinux-vdso.so.1 (0x7f)
\tlibc.so.6 => /cache/new/usr/lib/libc.so.6 (0x7f)
\tlibz.so.1 => /cache/newer/libz.so.1 (0x7f)
\tlibssl.so.3 => not found
\t/cache/ld-linux-x86-64.so.2 => /cache/new/usr/lib/ld-linux-x86-64.so.2 (0x7f)
`
  assert.deepEqual(librariesOutside('/cache/new', text), ['libz.so.1', 'libssl.so.3'])
})

test('branches are compared by their numbers', () => {
  assert.ok(isBranchOf('3.10.1', '3.2.26-1'))
  assert.ok(isBranchOf('3.2.0', '3.2.26-1'))
  assert.ok(!isBranchOf('2.6.12-1+deb12u2', '3.0.11-1'))
  assert.ok(!isBranchOf('unknown', '3.0.11-1'))
})

test('versionIn reads the first line of HAProxy', () => {
  assert.equal(versionIn('HAProxy version 2.6.12-1+deb12u2 2025/04/16 - https://haproxy.org/\n'), '2.6.12-1+deb12u2')
  assert.equal(versionIn('bash: haproxy: not found'), undefined)
})
