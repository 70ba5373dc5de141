import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ProviderName, providers } from '@quayside/contract/providers.ts'
import {
  listDatabaseInstanceTypes,
  listDatabaseTypes,
  listFeatures,
  listInstanceTypes,
  listProviders,
  listRegions,
} from './catalogue.ts'
import { featureRecord, findFeature } from './features.ts'

/** Object.keys loses the type of the table's keys. */
const names = Object.keys(providers) as ProviderName[]

test('names in the catalogue are unique, and no table of a cloud is empty', () => {
  for (const provider of names) {
    const lists = [listRegions(provider), listInstanceTypes(provider, undefined), listFeatures(provider)]
    for (const list of lists) {
      const all = list.map((entry) => ('name' in entry ? entry.name : entry.id))
      assert.equal(new Set(all).size, all.length)
      if (provider !== 'onPremise') assert.notEqual(all.length, 0)
    }
  }
  assert.deepEqual(
    listProviders().map(({ short_name }) => short_name),
    ['AWS', 'SCW', 'GCP', 'AZURE', 'ON_PREMISE'],
  )
})

test('machines are listed for a known region or zone, filtered by the query', () => {
  for (const place of ['eu-west-3', 'eu-west-3a']) assert.notEqual(listInstanceTypes('aws', place).length, 0)
  assert.throws(() => listInstanceTypes('aws', 'eu-west-99'), { code: 'notFound', message: /GET \/aws\/region/ })
  const gpus = listInstanceTypes('aws', 'eu-west-3', { gpu: 'ONLY' })
  const rest = listInstanceTypes('aws', 'eu-west-3', { gpu: 'EXCLUDE' })
  assert.ok(gpus.every((type) => type.gpu_info) && rest.every((type) => !type.gpu_info))
  assert.equal(gpus.length + rest.length, listInstanceTypes('aws', undefined, { gpu: 'INCLUDE' }).length)
  assert.deepEqual(listInstanceTypes('aws', undefined, { with_gpu: true }), gpus)
  const large = listInstanceTypes('aws', undefined, { only_meets_resource_reqs: true })
  assert.ok(large.length > 0 && large.every(({ cpu, ram_in_gb }) => cpu >= 2 && ram_in_gb >= 4))
  assert.ok(listInstanceTypes('aws', undefined).some(({ attributes }) => !attributes.meets_resource_reqs))
})

test('every listed type of database has machines', () => {
  for (const { name } of listDatabaseTypes('aws')) {
    assert.notEqual(listDatabaseInstanceTypes('eu-west-3', name).length, 0)
  }
  assert.throws(() => listDatabaseInstanceTypes('eu-west-3', 'ORACLE'), { code: 'notFound' })
  assert.throws(() => listDatabaseInstanceTypes('nowhere', 'REDIS'), { code: 'notFound' })
})

test('a feature is found by key and id, and a boolean one returns a boolean', () => {
  const [first] = listFeatures('aws')
  assert.ok(first)
  const feature = findFeature('aws', first.id.toUpperCase())
  assert.ok(feature)
  assert.equal(feature, findFeature('aws', 'STATIC_IP'))
  assert.equal(findFeature('azure', 'KARPENTER'), undefined)
  const record = featureRecord('aws', feature, { id: 'STATIC_IP', value: true })
  assert.deepEqual(
    [record.id, record.value_type, record.value_object],
    ['STATIC_IP', 'BOOLEAN', { type: 'BOOLEAN', value: true }],
  )
  for (const provider of names) {
    for (const { value_type, value_object } of listFeatures(provider)) {
      if (value_type === 'BOOLEAN') assert.equal(typeof value_object?.value, 'boolean')
    }
  }
})
