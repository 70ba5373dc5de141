import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'
import { tryLock } from '../server/database/exclusive.ts'
import { lockDataDirectory, readJson, writeJson } from './data-directory.mjs'
import { refuseSharers } from './lock-holder.mjs'
import { planRollback } from './rollback-plan.mjs'
import { describeUpgrade, refuseUpgrade } from './upgrade-plan.mjs'

const run = promisify(execFile)
const author = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' }
/**
 * @param {string} cwd
 * @param {string[]} args
 */
const git = async (cwd, ...args) => (await run('git', args, { cwd, env: { ...process.env, ...author } })).stdout.trim()

const restoreStub = `import { existsSync } from 'node:fs'
console.log('restored', ...process.argv.slice(2))
if (existsSync('.quayside/broken')) process.exit(1)`

/**
 * Makes a checkout with these commands and stubs of the server's programs, its remote, and a clone
 * to push from.
 * @param {import('node:test').TestContext} t
 */
async function openPlatform(t) {
  const home = mkdtempSync(join(tmpdir(), 'quayside-upgrade-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const [remote, desk, root] = [join(home, 'remote.git'), join(home, 'desk'), join(home, 'root')]
  await git(home, 'init', '-q', '--bare', '-b', 'main', remote)
  await git(home, 'clone', '-q', remote, desk)
  const migrations = join('server', 'database', 'migrations')
  mkdirSync(join(desk, migrations), { recursive: true })
  mkdirSync(join(desk, 'server', 'start'))
  mkdirSync(join(desk, 'words'))
  cpSync(import.meta.dirname, join(desk, 'bootstrap'), { recursive: true })
  const named = { name: 'small', version: '1.0.0', workspaces: ['words'] }
  const words = { name: 'words', version: '1.0.0' }
  const lock = {
    ...named,
    lockfileVersion: 3,
    requires: true,
    packages: { '': named, words, 'node_modules/words': { resolved: 'words', link: true } },
  }
  /** @param {Record<string, string>} files */
  const push = async (files) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(desk, name), text)
    await git(desk, 'add', '-A')
    await git(desk, 'commit', '-q', '-m', Object.keys(files).join(' '))
    await git(desk, 'push', '-q', 'origin', 'HEAD:main')
    return await git(desk, 'rev-parse', 'HEAD')
  }
  const first = await push({
    'package.json': JSON.stringify(named),
    'package-lock.json': JSON.stringify(lock),
    'words/package.json': JSON.stringify(words),
    '.gitignore': 'node_modules/\n.quayside/\n',
    'server/check-upgrade.ts': 'console.log("checked")',
    'server/start/restore-snapshot.ts': restoreStub,
    [join(migrations, '0001_one.sql')]: '',
  })
  await git(home, 'clone', '-q', remote, root)
  const data = join(root, '.quayside')
  mkdirSync(data)
  return {
    root,
    data,
    push,
    first,
    migrations,
    head: () => git(root, 'rev-parse', 'HEAD'),
    command: createCommand(root),
  }
}

/**
 * Runs a command of the checkout as an operator does, and returns its exit code and its output.
 * @param {string} root
 */
function createCommand(root) {
  /**
   * @param {string} name
   * @param {string[]} args
   */
  return async (name, ...args) => {
    const options = { cwd: root, env: { ...process.env, QUAYSIDE_DATA: '' } }
    const ended = await run(process.execPath, [join(root, 'bootstrap', `${name}.mjs`), ...args], options).catch(
      (e) => e,
    )
    return { code: ended.code ?? 0, said: `${ended.stdout}${ended.stderr}` }
  }
}

test('upgrade prepares while a server runs, switches after it stops, and can be rolled back', async (t) => {
  const { root, data, push, first, migrations, head, command } = await openPlatform(t)
  assert.match((await command('upgrade')).said, /origin\/main has nothing newer/)
  const second = await push({ [join(migrations, '0002_two.sql')]: '', 'server/new.ts': '' })
  const lock = await lockDataDirectory(data)
  assert.ok(lock)
  const ready = await command('upgrade')
  assert.match(
    ready.said,
    /1 commit:.*changed by:\n {2}0002_two\.sql.*checked.*is ready and was checked\. Nothing was changed, because a server/s,
  )
  assert.deepEqual([ready.code, await head()], [1, first])
  assert.match((await command('rollback-upgrade', first)).said, /is already checked out/)
  await new Promise((closed) => lock.close(closed))
  const switched = await command('upgrade')
  assert.equal(switched.code, 0, switched.said)
  assert.equal(await head(), second)
  assert.deepEqual(
    [readdirSync(join(data, 'versions')), (await git(root, 'worktree', 'list')).split('\n').length],
    [[], 1],
  )
  // The packages were moved too, and link into this checkout.
  assert.equal(realpathSync(join(root, 'node_modules', 'words')), join(root, 'words'))
  mkdirSync(join(data, 'versions', 'left'))
  assert.match((await command('upgrade')).said, /has nothing newer/)
  assert.deepEqual(readdirSync(join(data, 'versions')), [])
  // The server writes this at its start.
  writeJson(data, 'version.json', { version: '1.0.0', commit: second, former: { version: '1.0.0', commit: first } })
  // Restoring the database fails.
  writeFileSync(join(data, 'broken'), '')
  assert.deepEqual([(await command('rollback-upgrade')).code, await head()], [1, second])
  rmSync(join(data, 'broken'))
  const back = await command('rollback-upgrade')
  assert.match(back.said, new RegExp(`restored ${first} 0001_one.sql\n`))
  assert.deepEqual([back.code, await head(), readJson(data, 'version.json').commit], [0, first, first])
  assert.equal(await git(root, 'branch', '--show-current'), 'main')
})

test('upgrade stops when its check fails, files were changed or the checkout has its own commits', async (t) => {
  const { root, push, first, head, command } = await openPlatform(t)
  const red = await push({ 'server/check-upgrade.ts': 'console.error("no room"); process.exit(1)' })
  const refused = await command('upgrade')
  assert.match(refused.said, /no room.*would not start here.*Nothing was changed/s)
  assert.deepEqual([refused.code, await head()], [1, first])
  writeFileSync(join(root, 'package.json'), '{}')
  for (const name of ['upgrade', 'rollback-upgrade'])
    assert.match((await command(name)).said, /were changed:\n\nM package\.json/)
  await git(root, 'commit', '-q', '-a', '-m', 'own')
  assert.match((await command('upgrade')).said, /has commits that origin\/main does not have/)
  assert.match((await command('rollback-upgrade', red)).said, /is not an earlier version of/)
})

test('planRollback prefers the interrupted rollback, then the named commit, then the last and previous ones', () => {
  const [head, version] = ['new', { commit: 'new', former: { commit: 'old' } }]
  const snapshot = { of: { commit: 'older' }, pending: ['0002_two.sql'] }
  /** @param {Partial<Parameters<typeof planRollback>[0]>} found */
  const plan = (found) => planRollback({ head, ...found })
  assert.deepEqual(plan({ mark: { commit: 'cut' }, named: 'named', version }), { commit: 'cut' })
  assert.deepEqual(plan({ named: 'named', version }), { commit: 'named' })
  assert.deepEqual(plan({ version: { commit: 'ran', former: { commit: 'old' } } }), { commit: 'ran' })
  assert.deepEqual(plan({ version, snapshot }), { commit: 'old' })
  assert.deepEqual(plan({ version: { commit: 'new', former: null }, snapshot }), { commit: 'older' })
  assert.deepEqual(plan({ snapshot: { ...snapshot, of: null } }), { before: '0002_two.sql' })
  assert.match(plan({}).refusal ?? '', /Name the commit/)
  assert.match(plan({ snapshot: { ...snapshot, of: { commit: 'new' } } }).refusal ?? '', /Name the commit/)
})

test('refuseUpgrade refuses own commits, an old Node.js and a full disk', () => {
  const good = {
    isAncestor: true,
    upstream: 'origin/main',
    nodeVersion: '20.1.0',
    wantedNode: '>=20',
    freeBytes: 2,
    neededBytes: 1,
    place: '/p',
  }
  assert.equal(refuseUpgrade(good), undefined)
  assert.match(refuseUpgrade({ ...good, isAncestor: false }) ?? '', /git pull/)
  assert.match(refuseUpgrade({ ...good, wantedNode: '>=22' }) ?? '', /Node\.js 22 or newer, this is 20\.1\.0/)
  assert.match(refuseUpgrade({ ...good, neededBytes: 2 ** 21 }) ?? '', /\/p, which needs about 2 MiB; 1 MiB are free/)
  const commits = Array.from({ length: 22 }, (_, index) => `c${index}`)
  assert.match(
    describeUpgrade({ head: 'a', target: 'b', commits, migrations: [] }),
    /22 commits:\n {2}c0\n.*… and 2 more\nThe database schema is unchanged/s,
  )
})

test('commands use the same locks as the server', async () => {
  const lock = await tryLock('data /some/where')
  assert.ok(lock)
  assert.equal(await lockDataDirectory('/some/where'), undefined)
  lock.close()
  const shared = await tryLock('data /some/where', 3000)
  assert.ok(shared)
  assert.throws(() => refuseSharers('/some/where'), /port 3000/)
  shared.close()
})
