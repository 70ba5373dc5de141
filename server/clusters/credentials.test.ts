import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { insertOrganization } from '../organizations/index.ts'
import { testVault } from '../vault/testing.ts'
import { createCredentials } from './credentials.ts'
import { type CredentialsBody, partsOf, type VariantName, variantOf, variants, wantedVariant } from './variants.ts'

const { sql: database } = await testDatabase({ after })
const vault = await testVault({ after }, database)
const credentials = createCredentials({ database, vault, clock })
const [own, other] = [newId(), newId()]
for (const id of [own, other]) await insertOrganization(database, { id, name: id, now: clock.now() })

const hidden = 'hidden-value'
/** Returns every field that a request may have. All secrets have the value `hidden`. */
const everything = (name: VariantName): CredentialsBody & { name: string } => {
  const { shown, secret } = variantOf(name)
  const fields = [...shown.map((field) => [field, `shown ${field}`]), ...secret.map((field) => [field, hidden])]
  return { name, type: name, ...Object.fromEntries(fields), ...(name in google ? { credential_type: name } : {}) }
}
const google = { SERVICE_ACCOUNT_KEY: 1, WORKLOAD_IDENTITY_FEDERATION: 1 }
/** Object.keys loses the type of the table's keys. */
const names = Object.keys(variants) as VariantName[]

for (const name of names) {
  const { provider, objectType, shown, secret } = variantOf(name)

  test(`${name}: every field that it needs is required, returned or hidden`, async () => {
    const body = everything(name)
    const made = await credentials.create(own, provider, body)
    assert.equal(made.object_type, objectType)
    const found = await credentials.get(own, provider, made.id)
    assert.deepEqual(found, made)
    for (const field of shown) assert.equal(Object(found)[field], `shown ${field}`)
    const [row] = await database`select * from credentials where id = ${made.id}`
    for (const seen of [found, row]) assert.ok(!JSON.stringify(seen).includes(hidden))
    for (const field of [...shown, ...secret]) {
      const { [field]: _, ...rest } = body
      await assert.rejects(credentials.create(own, provider, { ...rest, name }), {
        code: 'invalid',
        message: new RegExp(`^${field} is required`),
      })
    }
  })
}

test('a change keeps omitted fields and secrets, and another type needs all of its fields', async () => {
  const variant = 'EKS_ANYWHERE_VSPHERE_STATIC'
  const { id } = await credentials.create(own, 'aws', everything(variant))
  await credentials.edit(own, 'aws', id, { name: 'renamed', vsphere_password: 'another' })
  const [row] = await database<{ sealed_secrets: string; name: string }[]>`select * from credentials where id = ${id}`
  assert.equal(row?.name, 'renamed')
  const cell = { table: 'credentials', row: id, column: 'sealed_secrets' }
  const secrets = (await vault.open(database, own, cell, row.sealed_secrets)).reveal()
  assert.deepEqual(JSON.parse(secrets), { vsphere_password: 'another', secret_access_key: hidden })
  await assert.rejects(credentials.edit(own, 'aws', id, { type: 'AWS_ROLE' }), { message: /^role_arn is required/ })
  const role = await credentials.edit(own, 'aws', id, { type: 'AWS_ROLE', role_arn: 'arn' })
  assert.equal(role.object_type, 'AWS_ROLE')
  const [after] = await database`select sealed_secrets, settings from credentials where id = ${id}`
  assert.deepEqual(after, { sealed_secrets: null, settings: { role_arn: 'arn' } })
})

test('the form of Google’s credentials follows from what is sent', () => {
  assert.equal(wantedVariant('gcp', { gcp_credentials: '{}' }), 'SERVICE_ACCOUNT_KEY')
  assert.equal(wantedVariant('gcp', { credential_type: 'WIF' }), 'WORKLOAD_IDENTITY_FEDERATION')
  assert.equal(wantedVariant('gcp', {}, 'WORKLOAD_IDENTITY_FEDERATION'), 'WORKLOAD_IDENTITY_FEDERATION')
  const email = 'robot@my-project.iam.gserviceaccount.com'
  const settings = variantOf('WORKLOAD_IDENTITY_FEDERATION').derived?.({ service_account_email: email })
  assert.deepEqual(settings, { project_id: 'my-project', token_lifetime_seconds: 3600 })
  assert.deepEqual(partsOf('ON_PREMISE', { name: 'x' }, true), { shown: {}, secret: {} })
})

test('credentials are found only in their organization, under their provider', async () => {
  const { id } = await credentials.create(own, 'azure', everything('AZURE'))
  for (const [organization, provider] of [
    [other, 'azure'],
    [own, 'aws'],
  ] as const) {
    await assert.rejects(credentials.get(organization, provider, id), { code: 'notFound' })
    await assert.rejects(credentials.edit(organization, provider, id, { name: 'x' }), { code: 'notFound' })
    await assert.rejects(credentials.remove(organization, provider, id), { code: 'notFound' })
  }
  await credentials.remove(own, 'azure', id)
  await assert.rejects(credentials.get(own, 'azure', id), { code: 'notFound' })
})
