import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { saveCreationLimits, usualLimits } from '../../server/organizations/index.ts'
import { createPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

/** Group N: whether one organization can make the platform large for others. */

const platform = await createPlatform({ after })
const { a, call, database } = platform
const { environmentId, projectId } = await platform.addObjects(a)

type Call = readonly [path: string, body: (count: number) => object]
const creations = {
  projects: [`/organization/${a.organizationId}/project`, (count) => ({ name: `limited project ${count}` })],
  environments: [`/project/${projectId}/environment`, (count) => ({ name: `limited environment ${count}` })],
  services: [
    `/environment/${environmentId}/application`,
    (count) => ({ name: `limited ${count}`, git_repository: { url: 'http://localhost:3000/git/hello.git' } }),
  ],
} satisfies Record<string, Call>
type Kind = keyof typeof creations

const countOf = async (kind: Kind): Promise<number> => {
  const [row] = await database<Record<Kind, number>[]>`
    select (select count(*)::int from project where organization_id = ${a.organizationId}) as projects,
      (select count(*)::int from environment e join project p on p.id = e.project_id
        where p.organization_id = ${a.organizationId}) as environments,
      (select count(*)::int from service s join environment e on e.id = s.environment_id
        join project p on p.id = e.project_id where p.organization_id = ${a.organizationId}) as services`
  return row?.[kind] ?? 0
}

for (const kind of ['projects', 'environments', 'services'] as const) {
  test(`N39 requests at the same time create no more ${kind} than an organization may have`, async () => {
    const most = (await countOf(kind)) + 3
    await saveCreationLimits(database, { ...usualLimits, [kind]: most })
    const [path, body] = creations[kind]
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, count) => call(a.tokens.ADMIN, 'POST', path, body(count))),
    )
    const ends = answers.map(({ status }) => (status < 300 ? 'created' : status)).toSorted()
    assert.deepEqual(ends, [...Array(5).fill(409), ...Array(3).fill('created')])
    const refused = answers.find(({ status }) => status === 409)
    assert.match(refused?.text ?? '', new RegExp(`at most ${most} ${kind} \\(QUAYSIDE_MOST_[A-Z]+\\)`))
    assert.equal(await countOf(kind), most)
    await saveCreationLimits(database, usualLimits)
  })
}

test('N40 a copy of an environment creates no more services than an organization may have', async () => {
  const copy = (name: string) => call(a.tokens.ADMIN, 'POST', `/environment/${environmentId}/clone`, { name })
  const before = await countOf('services')
  await saveCreationLimits(database, { ...usualLimits, services: before + 1 })
  const { status, text } = await copy('too many')
  assert.deepEqual([status, /at most/.test(text)], [409, true], text)
  assert.equal(await countOf('services'), before)
  await saveCreationLimits(database, usualLimits)
  assert.equal((await copy('enough')).status, 202)
})

test('N41 a copy whose room is taken meanwhile fails with the reason', async (t) => {
  const working = await createPlatform(t, { works: true })
  const { a: owner, database: sql } = working
  const source = (await working.addObjects(owner)).environmentId
  const { promise: isHeld, resolve: held } = Promise.withResolvers<void>()
  const { promise: isFree, resolve: release } = Promise.withResolvers<void>()
  // The copy waits for its source.
  const holding = sql.begin(async (inner) => {
    await inner`select from environment where id = ${source} for update`
    held()
    await isFree
  })
  await isHeld
  const answer = await working.call(owner.tokens.ADMIN, 'POST', `/environment/${source}/clone`, { name: 'late' })
  assert.equal(answer.status, 202, answer.text)
  await saveCreationLimits(sql, { ...usualLimits, services: 1 })
  release()
  await holding
  const { id } = Object(answer.body)
  const ended = await until('the copy has ended', async () => {
    const [row] = await sql<{ status: string; reason: string | null }[]>`
      select status, reason from copy_record where id = ${id} and status <> 'ONGOING'`
    return row
  })
  assert.equal(ended.status, 'ERROR')
  assert.match(ended.reason ?? '', /at most 1 services \(QUAYSIDE_MOST_SERVICES\)/)
  assert.equal((await sql`select from environment where id = ${id}`).length, 0)
})
