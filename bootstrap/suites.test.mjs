import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runTests } from './run-suite.mjs'
import { closingLine, listFiles, readCounts, sortTests } from './suites.mjs'

test('sortTests puts each test file into its suite', () => {
  const { rules, unit, fast, docker, faults, kubernetes } = sortTests([
    'server/lib/run.test.ts',
    'server/lib/run.ts',
    'server/engines/docker/x.docker.test.ts',
    'bootstrap/system.test.mjs',
    'test/e2e/deploy.test.ts',
    'test/faults/kill.test.ts',
    'test/faults/kill.docker.test.ts',
    'test/faults/kills.faults.ts',
    'test/kubernetes/node.kubernetes.ts',
    'test/kubernetes/pack.test.ts',
    'test/structure/prose.test.ts',
    'test/support/http3/client.test.ts',
    'test/support/server.ts',
    'examples/hello/server.test.ts',
  ])
  assert.deepEqual(rules, ['test/structure/prose.test.ts'])
  assert.deepEqual(unit, ['bootstrap/system.test.mjs', 'server/lib/run.test.ts'])
  assert.deepEqual(fast, [
    ...unit,
    'test/faults/kill.test.ts',
    'test/kubernetes/pack.test.ts',
    'test/support/http3/client.test.ts',
  ])
  assert.deepEqual(docker, [
    'server/engines/docker/x.docker.test.ts',
    'test/e2e/deploy.test.ts',
    'test/faults/kill.docker.test.ts',
  ])
  assert.deepEqual(faults, ['test/faults/kills.faults.ts'])
  assert.deepEqual(kubernetes, ['test/kubernetes/node.kubernetes.ts'])
})

test('sortTests covers every test file of this checkout', () => {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const files = listFiles(root)
  const { rules, fast, docker, faults, kubernetes } = sortTests(files)
  const sorted = new Set([...rules, ...fast, ...docker, ...faults, ...kubernetes])
  const tests = files.filter((file) => /\.(test\.(ts|mjs)|(faults|kubernetes)\.ts)$/.test(file))
  assert.deepEqual(
    tests.filter((file) => !sorted.has(file)),
    [],
  )
})

test('listFiles skips packages and hidden directories', async () => {
  await inDirectory({ 'a/b.ts': '', 'node_modules/x.ts': '', '.git/y.ts': '', 'a/node_modules/z.ts': '' }, (root) => {
    assert.deepEqual(listFiles(root), ['a/b.ts'])
  })
})

test('readCounts returns the last counts in both formats of the runner', () => {
  const counts = { passed: 3, failed: 3, skipped: 2 }
  assert.deepEqual(readCounts('# pass 9\nℹ pass 3\nℹ fail 1\nℹ cancelled 2\nℹ skipped 1\nℹ todo 1\n'), counts)
  assert.deepEqual(readCounts('# pass 3\n# fail 1\n# cancelled 2\n# skipped 1\n# todo 1\n'), counts)
  assert.deepEqual(readCounts('it broke\nsaid # pass 3 inside a line'), { passed: 0, failed: 0, skipped: 0 })
})

test('closingLine adds up the counts of all suites', () => {
  const result = { passed: 2, failed: 1, skipped: 0 }
  assert.equal(closingLine([result, { passed: 5, failed: 0, skipped: 3 }]), '7 passed, 1 failed, 3 skipped')
  assert.equal(closingLine([]), '0 passed, 0 failed, 0 skipped')
})

test('runTests counts the tests that ran, and reports a failure when a file is missing', async () => {
  const files = {
    'mixed.test.mjs': `import { test } from 'node:test'
      test('good', () => {})
      test('left out', { skip: 'reason' }, () => {})
      test('bad', () => { throw new Error('bad') })`,
    'good.test.mjs': `import { test } from 'node:test'
      test('ends although something still runs', () => { setInterval(() => {}, 1000) })`,
  }
  await inDirectory(files, async (root) => {
    /** @param {string[]} names */
    const run = (...names) => runQuietly(root, names)
    assert.deepEqual(await run('good.test.mjs'), { passed: 1, failed: 0, skipped: 0 })
    assert.deepEqual(await run('good.test.mjs', 'mixed.test.mjs'), { passed: 2, failed: 1, skipped: 1 })
    assert.equal((await run('absent.test.mjs')).failed, 1)
  })
})

test('runTests counts every test when a file reports faster than the runner reads', async () => {
  const many = `import { test } from 'node:test'
    for (let n = 0; n < 3000; n++) test(\`\${n} \${'x'.repeat(100)}\`, () => {})
    test('ends although something still runs', () => { setInterval(() => {}, 1000) })`
  await inDirectory({ 'many.test.mjs': many }, async (root) => {
    assert.deepEqual(await runQuietly(root, ['many.test.mjs']), { passed: 3001, failed: 0, skipped: 0 })
  })
})

/**
 * Runs test files without printing: readers would take their failures and counts for this run's.
 * @param {string} root
 * @param {string[]} names
 */
function runQuietly(root, names) {
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined }
  return runTests(process.execPath, names, { cwd: root, env, concurrency: 1, print: () => {} })
}

/**
 * Calls `work` with a directory that has these files, and removes it.
 * @param {Record<string, string>} files
 * @param {(root: string) => Promise<void> | void} work
 */
async function inDirectory(files, work) {
  const root = await mkdtemp(join(tmpdir(), 'quayside-suites-'))
  try {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(join(root, name, '..'), { recursive: true })
      await writeFile(join(root, name), content)
    }
    await work(root)
  } finally {
    await rm(root, { recursive: true })
  }
}
