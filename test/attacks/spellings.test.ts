import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { addPerson, signIn } from '../support/people.ts'
import { createPlatform } from '../support/platform.ts'

/**
 * A credential has one spelling. Another text that decodes to the same bytes is not the same
 * credential.
 */
const platform = await createPlatform({ after })
const { a, call, database, rooms } = platform
const { id } = await addPerson(database, {
  email: 'spelling@a.example',
  member: { organizationId: a.organizationId, role: 'VIEWER' },
})
const status = async (token: string) => (await call(token, 'GET', `/organization/${a.organizationId}`)).status

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** Returns other texts that Node's decoder reads as the same bytes. */
function others(part: string): string[] {
  const bits = (4 - (part.length % 4)) % 4
  const last = alphabet.indexOf(part.at(-1) ?? '')
  const twins = [...alphabet].filter((_, value) => value !== last && value >> (bits * 2) === last >> (bits * 2))
  return [
    `${part}=`,
    `${part}==`,
    ...(bits === 0 ? [] : twins.map((twin) => `${part.slice(0, -1)}${twin}`)),
    ...(/[-_]/.test(part) ? [part.replaceAll('-', '+').replaceAll('_', '/')] : []),
  ]
}

test('a JWT is valid only in its own spelling, in each of its parts', async () => {
  const token = await signIn(platform, id)
  assert.equal(await status(token), 200)
  const parts = token.split('.')
  let tried = 0
  for (const [index, part] of parts.entries()) {
    for (const other of others(part)) {
      assert.equal(Buffer.from(other, 'base64url').equals(Buffer.from(part, 'base64url')), true)
      assert.equal(await status(parts.with(index, other).join('.')), 401, `part ${index}: ${other.slice(-4)}`)
      tried++
    }
  }
  assert.ok(tried >= 9, String(tried))
  for (const text of [`${token}.`, `.${token}`, `${token}.x`, `${token},`, `${token}%3D`])
    assert.equal(await status(text), 401)
  assert.equal(await status(token), 200)
})

test('an API token is valid only in its own spelling', async () => {
  const token = a.tokens.READ
  for (const text of [`${token}=`, `${token}==`, token.toLowerCase(), `${token}.`, `%${token}`]) {
    assert.equal(await status(text), 401, text)
  }
})

test('a link of an invitation is valid only in its own spelling', async () => {
  const inviter = { id: a.organizationId, kind: 'token', name: 'test', accountId: undefined } as const
  const rights = { permissions: ['ADMIN'] } as const
  const caller = { ...inviter, ...rights, rights, organizationId: a.organizationId }
  const invitation = await rooms.invitations.create(a.organizationId, caller, { email: 'spelled@a.example' })
  const text = String(invitation.invitation_link).split('/join/')[1] ?? ''
  const [invited = '', proof = ''] = text.split('.')
  assert.ok(await rooms.invitations.open(text))
  for (const other of others(proof)) assert.equal(await rooms.invitations.open(`${invited}.${other}`), undefined, other)
})

test('the password of the git host is valid only in one spelling of its header', async () => {
  const get = (encoded: string) =>
    call(undefined, 'GET', '/git/nothing.git/info/refs?service=git-upload-pack', undefined, {
      authorization: `Basic ${encoded}`,
    })
  const encoded = Buffer.from(`git:${a.tokens.READ}`).toString('base64')
  assert.equal((await get(encoded)).status, 404)
  for (const other of [`${encoded}=`, `${encoded}==`, `${encoded}=QQ`, `=${encoded}`])
    assert.equal((await get(other)).status, 401, other)
})
