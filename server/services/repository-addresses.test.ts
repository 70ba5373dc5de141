import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { migrate, readMigrations } from '../database/migrate.ts'
import { emptyDatabase, testDatabase } from '../database/testing.ts'
import { repositoryKey } from '../git/repository-key.ts'
import { newId } from '../lib/id.ts'
import { silentLogger } from '../lib/log.ts'

const { sql } = await testDatabase({ after })

async function normalized(addresses: readonly string[]): Promise<string[]> {
  const rows = await sql<{ address: string }[]>`
    select repository_address(one) as address
    from jsonb_array_elements_text(${sql.json(addresses)}::jsonb) with ordinality given(one, place) order by place`
  return rows.map(({ address }) => address)
}

const scheme = fc.constantFrom('http', 'https', 'HTTPS', 'Http')
const host = fc.constantFrom('host', 'HOST', 'git.example.org', 'Git.Example.org', '[::1]', '[FE80::1]', '10.0.0.1')
const port = fc.constantFrom('', ':', ':80', ':443', ':0443', ':0080', ':8443', ':08443', ':00', ':44300')
const path = fc
  .array(fc.constantFrom('x', 'X', 'shop', '.git', '.GIT', '/', '//', ':443', '-'), { maxLength: 6 })
  .map((parts) => parts.join(''))
const address = fc
  .tuple(scheme, host, port, path)
  .map(([first, second, third, last]) => `${first}://${second}${third}/${last}`)
const anyText = fc.string({ unit: fc.constantFrom(...'htps:/[].git@0843 \nx%?#ÄİK'), maxLength: 40 })

test('repository_address changes nothing when it is applied again', async () => {
  const given = fc.sample(fc.oneof(address, anyText), { numRuns: 20_000, seed: 1 })
  const once = await normalized(given)
  const twice = await normalized(once)
  const changed = once.flatMap((one, i) => (one === twice[i] ? [] : [[given[i], one, twice[i]]]))
  assert.deepEqual(changed, [])
})

test('repository_address is the same for two addresses if origin and path are', async () => {
  const given = fc.sample(address, { numRuns: 5_000, seed: 2 })
  const found = await normalized(given)
  const repositories = given.map((text) => {
    const url = new URL(text)
    const bare = text.replace(/^[^/]*\/\/[^/]*/, '').replace(/\/*$/, '')
    return `${url.origin} ${bare === '' || bare.endsWith('.git') ? bare : `${bare}.git`}`
  })
  const pairs = new Set(given.map((_, i) => `${found[i]} | ${repositories[i]}`))
  assert.equal(pairs.size, new Set(found).size, 'an address names two repositories')
  assert.equal(pairs.size, new Set(repositories).size, 'a repository has two addresses')
})

test('addresses with one repository_address have one key for pushes', async () => {
  // The key ignores the case of .git, but a server may not.
  const given = fc.sample(address, { numRuns: 5_000, seed: 3 }).filter((text) => !text.includes('.GIT'))
  const found = await normalized(given)
  const keys = Map.groupBy(
    given.map((text, i) => ({ key: repositoryKey(text, []), at: found[i] })),
    ({ at }) => at,
  )
  for (const [at, same] of keys) assert.equal(new Set(same.map(({ key }) => key)).size, 1, at)
})

test('repository_address drops the default port of the scheme and no other', async () => {
  const expected: Readonly<Record<string, string>> = {
    'https://Host:443/x/': 'https://host/x.git',
    'https://host:0443/x.git': 'https://host/x.git',
    'https://host:/x': 'https://host/x.git',
    'http://host:80/x': 'http://host/x.git',
    'http://[::1]:80/x': 'http://[::1]/x.git',
    'https://host:80/x': 'https://host:80/x.git',
    'http://host:443/x': 'http://host:443/x.git',
    'https://host:4430/x': 'https://host:4430/x.git',
    'https://host/a:443/x': 'https://host/a:443/x.git',
    'https://host/x.git.git': 'https://host/x.git.git',
  }
  assert.deepEqual(await normalized(Object.keys(expected)), Object.values(expected))
})

test('the migration keeps the latest contact of each repository', async (t) => {
  const { sql: old } = await emptyDatabase(t)
  const all = await readMigrations()
  const place = all.findIndex(({ name }) => name.endsWith('_repository_addresses.sql'))
  await migrate(old, { log: silentLogger, migrations: all.slice(0, place) })
  const [organizationId, tokenId] = [newId(), newId()]
  await old`
    insert into organization (id, created_at, updated_at, name) values (${organizationId}, now(), now(), 'team')`
  await old`
    insert into git_token (id, organization_id, created_at, updated_at, name, type, git_api_url, sealed_token)
    values (${tokenId}, ${organizationId}, now(), now(), 'one', 'GITHUB', 'https://host', 'sealed')`
  const add = (address: string, at: string, hasAccess: boolean, version?: number) =>
    old`insert into repository_access (organization_id, address, git_token_id, credential_version, has_access,
      checked_at)
      values (${organizationId}, ${address}, ${version ? tokenId : null}, ${version ?? null}, ${hasAccess}, ${at})`
  await add('https://host:443/x', '2026-01-02', true)
  await add('https://host/x', '2026-01-01', false)
  await add('http://host/x', '2026-01-01', false)
  await add('https://host:443/x', '2026-01-01', true, 2)
  await add('https://host/x', '2026-01-02', false, 1)
  await add('https://host:8443/x', '2026-01-01', true)
  await migrate(old, { log: silentLogger })
  const rows = await old`
    select address, git_token_id is not null as token, has_access from repository_access order by address, token`
  assert.deepEqual(
    rows.map((row) => [row['address'], row['token'], row['has_access']]),
    [
      ['http://host/x.git', false, false],
      ['https://host/x.git', false, true],
      ['https://host/x.git', true, true],
      ['https://host:8443/x.git', false, true],
    ],
  )
})
