import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ProviderName, providers } from '@quayside/contract/providers.ts'
import { CatalogueFeature } from '@quayside/contract/resources/catalogue.ts'
import { listFeatures } from './catalogue.ts'

/** Object.keys loses the type of the table's keys. */
const names = Object.keys(providers) as ProviderName[]

for (const provider of names) {
  for (const record of listFeatures(provider)) {
    test(`the feature "${record.title}" of ${provider} has every field, with a value of its type`, () => {
      assert.deepEqual(Object.keys(record).toSorted(), Object.keys(CatalogueFeature.properties).toSorted())
      assert.ok(Object.values(record).every((value) => value !== undefined))
      const { value_object: object, value_type } = record
      if (object !== null) assert.equal(object.type, value_type)
      if (value_type === 'BOOLEAN') assert.equal(typeof object?.value, 'boolean')
      if (value_type === 'STRING') assert.equal(typeof object?.value, 'string')
      assert.deepEqual(record.accepted_values, value_type === 'BOOLEAN' ? ['true', 'false'] : [])
    })
  }
}
