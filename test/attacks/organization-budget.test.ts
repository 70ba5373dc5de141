import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { addPerson, signIn } from '../support/people.ts'
import { createPlatform } from '../support/platform.ts'
import { now } from '../support/until.ts'

/** How much one person gets by having many tokens, and by making other persons of herself. */
const platform = await createPlatform(
  { after },
  {
    settings: {
      QUAYSIDE_RATE_LIMIT: '1',
      QUAYSIDE_RATE_BURST: '50',
      QUAYSIDE_ORGANIZATION_RATE_LIMIT: '1',
      QUAYSIDE_ORGANIZATION_RATE_BURST: '20',
      QUAYSIDE_ORGANIZATIONS: 'operator',
    },
  },
)
const { a, b, rooms, database } = platform
let address = 1

/** Returns a sender with an address of its own, because callers of an address share its budget. */
const sender = (token: string) => {
  const remoteAddress = `198.51.100.${address++}`
  return async (method: 'GET' | 'POST', url: string, payload?: object) => {
    const headers = { host: 'localhost', authorization: `Bearer ${token}` }
    return platform.app.inject({ method, url, headers, remoteAddress, ...(payload && { payload }) })
  }
}
const tokenOf = async (organizationId: string, name: string): Promise<string> =>
  (await rooms.apiTokens.create(organizationId, { name: 'test', permissions: ['ADMIN'] }, { name, scope: 'READ' }))
    .token

test('many tokens of an organization are not many budgets, and do not stop people, quiet tokens or others', async () => {
  const url = `/organization/${a.organizationId}`
  const began = now()
  const owner = await addPerson(database, {
    email: 'p@a.example',
    member: { organizationId: a.organizationId, role: 'VIEWER' },
  })
  const quiet = sender(await tokenOf(a.organizationId, 'quiet'))
  assert.equal((await quiet('GET', url)).statusCode, 200)
  let accepted = 0
  for (let count = 0; count < 4; count++) {
    const send = sender(await tokenOf(a.organizationId, `many ${count}`))
    for (let request = 0; request < 40; request++) if ((await send('GET', url)).statusCode === 200) accepted++
  }
  // Each token also has a reserve of five and one a second.
  const seconds = Math.ceil((now() - began) / 1000)
  assert.ok(accepted <= 20 + 4 * 5 + 5 * seconds, `${accepted} of 160 in ${seconds} s`)
  assert.equal((await quiet('GET', url)).statusCode, 200)
  assert.equal((await sender(await signIn(platform, owner.id))('GET', url)).statusCode, 200)
  const other = sender(await tokenOf(b.organizationId, 'other'))
  for (let request = 0; request < 10; request++) {
    assert.equal((await other('GET', `/organization/${b.organizationId}`)).statusCode, 200)
  }
})

test('if only the operator creates organizations, administrators of others and people they invite do not', async () => {
  const [first] = await database<{ id: string }[]>`select id from organization order by created_at, id limit 1`
  const second = [a.organizationId, b.organizationId].find((id) => id !== first?.id) ?? ''
  const made = async (organizationId: string, role: 'OWNER' | 'ADMIN' | 'DEVOPS') => {
    const { id } = await addPerson(database, {
      email: `${role}@${organizationId}.example`,
      member: { organizationId, role },
    })
    const answer = await sender(await signIn(platform, id))('POST', '/organization', {
      name: `by ${role} ${organizationId}`,
    })
    return answer.statusCode
  }
  assert.deepEqual([await made(second, 'OWNER'), await made(second, 'ADMIN')], [403, 403])
  const firstId = first?.id ?? ''
  assert.deepEqual(
    [await made(firstId, 'OWNER'), await made(firstId, 'ADMIN'), await made(firstId, 'DEVOPS')],
    [201, 201, 403],
  )
})
