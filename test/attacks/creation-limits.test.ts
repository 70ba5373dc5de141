import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { saveCreationLimits, usualLimits } from '../../server/organizations/index.ts'
import { createPlatform } from '../support/platform.ts'

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
