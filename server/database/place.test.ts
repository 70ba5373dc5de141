import assert from 'node:assert/strict'
import { chmod, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { chooseUser, parsePasswd } from './database-user.ts'
import { makePrivate, preparePlace, socketDirectory, systemDirectory } from './place.ts'
import { grants } from './reachable.ts'
import { temporaryDirectory } from './test-support.ts'

const nobody = { name: 'nobody', uid: 65534, gid: 65534 }
const asRoot = process.getuid?.() === 0 ? {} : { skip: 'needs root' }

test('permissions apply for owner, group or others, the first that matches', () => {
  const user = { name: 'user', uid: 7, gid: 8 }
  assert.equal(grants({ mode: 0o100, uid: 7, gid: 0 }, user, 1), true)
  assert.equal(grants({ mode: 0o011, uid: 7, gid: 8 }, user, 1), false)
  assert.equal(grants({ mode: 0o010, uid: 1, gid: 8 }, user, 1), true)
  assert.equal(grants({ mode: 0o701, uid: 1, gid: 8 }, user, 1), false)
  assert.equal(grants({ mode: 0o001, uid: 1, gid: 1 }, user, 1), true)
  assert.equal(grants({ mode: 0o771, uid: 1, gid: 1 }, user, 5), false)
})

test("PostgreSQL's account is preferred to our own, and root is never used", () => {
  const accounts = parsePasswd(
    'root:x:0:0::/root:/bin/sh\nquayside:x:999:998::/:/x\n# odd\n\npostgres:x:101:104::/:/x\n',
  )
  assert.equal(chooseUser(accounts)?.uid, 101)
  assert.equal(chooseUser(accounts.filter(({ name }) => name !== 'postgres'))?.name, 'quayside')
  assert.equal(chooseUser([{ name: 'postgres', uid: 0, gid: 0 }]), undefined)
})

test('a socket goes to /tmp where its path would be too long', () => {
  assert.equal(socketDirectory('/data/database'), '/data/database/socket')
  const long = `/${'a'.repeat(90)}`
  assert.match(socketDirectory(long), /^\/tmp\/quayside-[0-9a-f]{16}$/)
  assert.notEqual(socketDirectory(long), socketDirectory(`${long}b`))
})

test('a directory for the socket that others can enter is rejected', async (t) => {
  const parent = await temporaryDirectory(t)
  const open = join(parent, 'open')
  await mkdir(open)
  await chmod(open, 0o755)
  await assert.rejects(makePrivate(open, undefined), {
    code: 'unavailable',
    message: /open must be a directory of this user/,
  })
  const link = join(parent, 'link')
  await mkdir(join(parent, 'own'), { mode: 0o700 })
  await symlink(join(parent, 'own'), link)
  await assert.rejects(makePrivate(link, undefined), { code: 'unavailable' })
  await makePrivate(join(parent, 'own'), undefined)
})

test('an empty directory of another recent start is used, a non-empty one is not', asRoot, async (t) => {
  const parent = await temporaryDirectory(t)
  const [fresh, used] = [join(parent, 'fresh'), join(parent, 'used')]
  for (const path of [fresh, used]) await mkdir(path, { mode: 0o700 })
  await writeFile(join(used, 'file'), '')
  await makePrivate(fresh, nobody)
  await assert.rejects(makePrivate(used, nobody), { code: 'unavailable' })
})

test('a database below a private directory is put into the system directory and stays there', asRoot, async (t) => {
  const parent = await temporaryDirectory(t)
  const asked = join(parent, 'data')
  const place = await preparePlace(asked, nobody)
  t.after(() => rm(place.home, { recursive: true, force: true }))
  assert.ok(place.home.startsWith(`${systemDirectory}/`))
  assert.equal((await stat(place.sockets)).uid, nobody.uid)
  assert.equal((await readFile(join(asked, 'location'), 'utf8')).trim(), place.home)
  assert.equal((await stat(parent)).mode & 0o777, 0o700, 'permissions of the private directory were loosened')
  await chmod(parent, 0o755)
  assert.equal((await preparePlace(asked, nobody)).home, place.home)
})

test('a database that is gone from the system directory is an error, not a new empty database', asRoot, async (t) => {
  const asked = join(await temporaryDirectory(t), 'data')
  const { home } = await preparePlace(asked, nobody)
  assert.ok(home.startsWith(`${systemDirectory}/`))
  await rm(home, { recursive: true })
  await assert.rejects(preparePlace(asked, nobody), {
    code: 'unavailable',
    message: /is gone\. Restore it from a backup/,
  })
  await assert.rejects(stat(home), { code: 'ENOENT' })
})

test('an unreachable database is an error, not a new empty database', asRoot, async (t) => {
  const parent = await temporaryDirectory(t)
  await mkdir(join(parent, 'data', 'cluster'), { recursive: true })
  await assert.rejects(preparePlace(join(parent, 'data'), nobody), {
    code: 'unavailable',
    message: /The account "nobody", as which PostgreSQL runs, cannot reach/,
  })
})
