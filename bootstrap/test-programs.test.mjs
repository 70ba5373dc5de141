import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { bringProgram } from './test-programs.mjs'

/** A program that no machine has. */
const program = { name: 'quayside-test-program', from: 'program-package', tests: 'Tests of it' }

/** @typedef {Parameters<typeof bringProgram>[2]} Options */
/**
 * @typedef {{
 *   bring: () => ReturnType<typeof bringProgram>,
 *   root: string,
 *   ran: string[],
 *   said: string[],
 * }} Bench
 */

/**
 * Calls `work` on a machine whose programs return the given answers.
 * @param {Partial<Options>} found
 * @param {(command: string) => { code?: number, output?: string, file?: string }} answers
 * @param {(bench: Bench) => Promise<void>} work
 */
async function bring(found, answers, work) {
  const root = mkdtempSync(join(tmpdir(), 'quayside-bootstrap-'))
  /** @type {string[]} */
  const ran = []
  /** @type {string[]} */
  const said = []
  /** @type {NonNullable<Options['run']>} */
  const run = async (program, args, { cwd = root } = {}) => {
    const command = [program, ...args].join(' ')
    ran.push(command)
    const { code = 0, output = '', file } = answers(command)
    if (file) {
      mkdirSync(join(cwd, file, '..'), { recursive: true })
      writeFileSync(join(cwd, file), '')
    }
    return { code, output }
  }
  try {
    /** @type {Options} */
    const options = { isApt: true, isRoot: true, ...found, run, say: (text) => void said.push(text) }
    await work({ bring: () => bringProgram(program, root, options), root, ran, said })
  } finally {
    rmSync(root, { recursive: true })
  }
}

test('bringProgram downloads a program once, and unpacks it without installing it', () =>
  bring(
    {},
    (command) => ({ file: command.startsWith('apt-get') ? 'program-package.deb' : 'sbin/quayside-test-program' }),
    async ({ bring, root, ran }) => {
      const directory = await bring()
      assert.equal(directory, join(root, 'node_modules/.cache/program-package/sbin'))
      assert.equal(await bring(), directory)
      assert.deepEqual(ran, ['apt-get download program-package', 'dpkg-deb --extract program-package.deb .'])
    },
  ))

test('bringProgram updates the package lists and reports the reason when the download fails', () =>
  bring(
    {},
    () => ({ code: 100, output: 'E: no packages found' }),
    async ({ bring, ran, said }) => {
      assert.equal(await bring(), undefined)
      assert.deepEqual(ran, ['apt-get download program-package', 'apt-get update', 'apt-get download program-package'])
      assert.match(said.join(), /skipped: "apt-get download program-package" failed: E: no packages found\. Put a/)
    },
  ))

test('bringProgram runs nothing when the machine has no apt', () =>
  bring(
    { isApt: false },
    () => assert.fail('a program was run'),
    async ({ bring, said }) => {
      assert.equal(await bring(), undefined)
      assert.match(said.join(), /skipped: program-package is a package of Debian and Ubuntu/)
    },
  ))

test('a program with many libraries is installed by root, and skipped with the reason otherwise', async () => {
  /** @type {string[]} */
  const ran = []
  /** @type {string[]} */
  const said = []
  const whole = { ...program, isInstalledWhole: true }
  /** @param {{ isRoot: boolean, code?: number }} found */
  const attempt = ({ isRoot, code = 0 }) =>
    bringProgram(whole, '/none', {
      isApt: true,
      isRoot,
      run: async (name, args) => {
        ran.push([name, ...args].join(' '))
        return { code, output: 'E: not found' }
      },
      say: (text) => void said.push(text),
    })
  assert.equal(await attempt({ isRoot: true }), '')
  assert.deepEqual(ran, ['apt-get update', 'apt-get install -y --no-install-recommends program-package'])
  assert.equal(await attempt({ isRoot: false }), undefined)
  assert.equal(await attempt({ isRoot: true, code: 100 }), undefined)
  assert.match(said.join('\n'), /only root can install program-package.*\n.*E: not found/s)
})
