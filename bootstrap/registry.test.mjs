import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { bringRegistry } from './registry.mjs'
import { isInstalled } from './system.mjs'

const skip = isInstalled('docker-registry') && 'a registry is installed: nothing is fetched'

/** A machine whose programs do as `answers` say. */
async function bring(found, answers, work) {
  const root = mkdtempSync(join(tmpdir(), 'quayside-bootstrap-'))
  const [ran, said] = [[], []]
  const run = async (program, args, { cwd } = {}) => {
    ran.push([program, ...args].join(' '))
    const { code = 0, output = '', file } = answers(ran.at(-1), ran.length) ?? {}
    if (file) {
      mkdirSync(join(cwd, file, '..'), { recursive: true })
      writeFileSync(join(cwd, file), '')
    }
    return { code, output }
  }
  try {
    const options = { isApt: true, isRoot: true, ...found, run, say: (text) => said.push(text) }
    await work({ bring: () => bringRegistry(root, options), root, ran, said })
  } finally {
    rmSync(root, { recursive: true })
  }
}

test('fetches the registry once, and unpacks it without installing it', { skip }, () =>
  bring(
    {},
    (command) => ({ file: command.startsWith('apt-get') ? 'docker-registry.deb' : 'usr/bin/docker-registry' }),
    async ({ bring, root, ran }) => {
      const directory = await bring()
      assert.equal(directory, join(root, 'node_modules/.cache/docker-registry/usr/bin'))
      assert.equal(await bring(), directory)
      assert.deepEqual(ran, ['apt-get download docker-registry', 'dpkg-deb --extract docker-registry.deb .'])
    },
  ),
)

test('reads the lists of packages anew where there are none, and says why it gives up', { skip }, () =>
  bring(
    {},
    () => ({ code: 100, output: 'E: no packages found' }),
    async ({ bring, ran, said }) => {
      assert.equal(await bring(), undefined)
      assert.deepEqual(ran, ['apt-get download docker-registry', 'apt-get update', 'apt-get download docker-registry'])
      assert.match(said.join(), /skipped: "apt-get download docker-registry" failed: E: no packages found\. Put a/)
    },
  ),
)

test('leaves machines without apt alone', { skip }, () =>
  bring(
    { isApt: false },
    () => assert.fail('a program was run'),
    async ({ bring, said }) => {
      assert.equal(await bring(), undefined)
      assert.match(said.join(), /skipped: docker-registry is a package of Debian and Ubuntu/)
    },
  ),
)
