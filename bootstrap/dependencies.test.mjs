import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { findNode, installDependencies } from './dependencies.mjs'

const directory = await mkdtemp(join(tmpdir(), 'quayside-dependencies-'))
const { PATH, npm_execpath: npm } = process.env
after(async () => {
  Object.assign(process.env, { PATH }, npm ? { npm_execpath: npm } : {})
  await rm(directory, { recursive: true })
})

/** A checkout whose npm only records its arguments. It fails if the file `fail` exists. */
let root = ''
beforeEach(async () => {
  root = await mkdtemp(join(directory, 'root-'))
  const bin = join(root, 'bin')
  await mkdir(bin)
  await writeFile(join(root, 'package-lock.json'), '{"version": 1}')
  await writeFile(
    join(bin, 'npm'),
    '#!/bin/sh\necho "$@" >>calls\nmkdir -p node_modules && echo {} >node_modules/.package-lock.json\n[ ! -e ' +
      'fail ] || { echo "no network"; exit 1; }\n',
  )
  await chmod(join(bin, 'npm'), 0o755)
  process.env.PATH = [bin, PATH].join(delimiter)
  delete process.env.npm_execpath
})
const calls = async () => (await readFile(join(root, 'calls'), 'utf8').catch(() => '')).split('\n').filter(Boolean)

test('installDependencies installs once for each lockfile, without install scripts', async () => {
  await installDependencies(root)
  await installDependencies(root)
  assert.deepEqual(await calls(), ['ci --ignore-scripts --include=dev --no-audit --no-fund'])
  await writeFile(join(root, 'package-lock.json'), '{"version": 2}')
  await installDependencies(root)
  assert.equal((await calls()).length, 2)
})

test('installDependencies keeps an installation that is newer than the lockfile', async () => {
  await mkdir(join(root, 'node_modules'))
  await writeFile(join(root, 'node_modules', '.package-lock.json'), '{}')
  await utimes(join(root, 'package-lock.json'), 1000, 1000)
  await installDependencies(root)
  assert.deepEqual(await calls(), [])
})

test('installDependencies reports the output of npm when npm fails, and tries again the next time', async () => {
  await writeFile(join(root, 'fail'), '')
  await assert.rejects(installDependencies(root), /no network\n\n"npm ci .*" failed\. Check the network/)
  await rm(join(root, 'fail'))
  await utimes(join(root, 'node_modules', '.package-lock.json'), 1000, 1000)
  await installDependencies(root)
  assert.equal((await calls()).length, 2)
})

test('findNode returns the packaged Node when it runs, and the current one otherwise', async () => {
  assert.equal(await findNode(root), process.execPath)
  const bin = join(root, 'node_modules', `node-linux-${process.arch}`, 'bin')
  await mkdir(bin, { recursive: true })
  await writeFile(join(bin, 'node'), '#!/bin/sh\necho v24.0.0\n')
  await chmod(join(bin, 'node'), 0o755)
  assert.equal(await findNode(root), join(bin, 'node'))
})
