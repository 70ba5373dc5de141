import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type Change, type Near, servicesThatSee } from './impact.ts'
import { type Definition, type Resolved, resolve } from './resolve.ts'

const services = [
  { id: 's1', environment_id: 'e1' },
  { id: 's2', environment_id: 'e1' },
  { id: 's3', environment_id: 'e2' },
]
const change = (more: Partial<Change> = {}): Change => ({
  id: 'v',
  owner: { projectId: 'p' },
  keys: ['A'],
  isValueOnly: true,
  ...more,
})
const near = (more: Partial<Near>): Near => ({
  id: 'n',
  key: 'A',
  variable_type: 'VALUE',
  base_id: null,
  environment_id: null,
  service_id: null,
  ...more,
})

describe('a variable is seen', () => {
  test('by every service at or below its owner', () => {
    assert.deepEqual(servicesThatSee(change(), services, []), ['s1', 's2', 's3'])
    assert.deepEqual(servicesThatSee(change({ owner: { environmentId: 'e1' } }), services, []), ['s1', 's2'])
    assert.deepEqual(servicesThatSee(change({ owner: { serviceId: 's3' } }), services, []), ['s3'])
  })

  test('not where a narrower one has its key', () => {
    assert.deepEqual(servicesThatSee(change(), services, [near({ environment_id: 'e1' })]), ['s3'])
    assert.deepEqual(servicesThatSee(change(), services, [near({ service_id: 's3' })]), ['s1', 's2'])
    assert.deepEqual(
      servicesThatSee(change({ keys: ['A', 'B'] }), services, [near({ environment_id: 'e1' })]).length,
      3,
    )
  })

  test('through an alias where it is hidden', () => {
    const hidden = near({ environment_id: 'e1' })
    const alias = near({ id: 'a', key: 'B', variable_type: 'ALIAS', base_id: 'v', service_id: 's1' })
    assert.deepEqual(servicesThatSee(change(), services, [hidden, alias]), ['s1', 's3'])
  })

  test('below an override when its key or place changes, not when its value does', () => {
    const override = near({ variable_type: 'OVERRIDE', base_id: 'v', environment_id: 'e1' })
    assert.deepEqual(servicesThatSee(change(), services, [override]), ['s3'])
    assert.deepEqual(servicesThatSee(change({ isValueOnly: false }), services, [override]), ['s1', 's2', 's3'])
  })
})

/**
 * Variables of one project with distinct values; each may be an alias or override of an earlier one
 * at a wider scope.
 */
const owners = [
  { scope: 'PROJECT', environment_id: null, service_id: null },
  { scope: 'ENVIRONMENT', environment_id: 'e1', service_id: null },
  { scope: 'ENVIRONMENT', environment_id: 'e2', service_id: null },
  { scope: 'SERVICE', environment_id: null, service_id: 's1' },
  { scope: 'SERVICE', environment_id: null, service_id: 's2' },
  { scope: 'SERVICE', environment_id: null, service_id: 's3' },
] as const
type Row = Near & { readonly scope: Definition['scope'] }
const draft = fc.record({
  owner: fc.nat(owners.length - 1),
  key: fc.constantFrom('A', 'B', 'C'),
  type: fc.constantFrom('VALUE', 'ALIAS', 'OVERRIDE'),
  base: fc.nat(20),
})

const environmentOf = (row: Pick<Near, 'environment_id' | 'service_id'>) =>
  row.environment_id ?? services.find(({ id }) => id === row.service_id)?.environment_id ?? null
const sees = (row: Pick<Near, 'environment_id' | 'service_id'>, base: Near): boolean =>
  (base.service_id === null || base.service_id === row.service_id) &&
  (base.environment_id === null || base.environment_id === environmentOf(row))

function rowsOf(drafts: readonly (typeof draft extends fc.Arbitrary<infer T> ? T : never)[]): Row[] {
  const rows: Row[] = []
  for (const [index, { owner: place, key, type, base: choice }] of drafts.entries()) {
    const owner = owners[place] ?? owners[0]
    const own = { ...owner, id: `v${index}` }
    const bases = rows.filter((row) => sees(owner, row))
    const base = bases[choice % Math.max(1, bases.length)]
    const isNarrower = base !== undefined && base.scope !== owner.scope
    const row =
      type === 'ALIAS' && base && base.variable_type !== 'ALIAS'
        ? { ...own, key, variable_type: 'ALIAS', base_id: base.id }
        : type === 'OVERRIDE' && base && isNarrower
          ? { ...own, key: base.key, variable_type: 'OVERRIDE', base_id: base.id }
          : { ...own, key, variable_type: 'VALUE', base_id: null }
    const isTaken = rows.some(
      (one) => one.key === row.key && one.environment_id === row.environment_id && one.service_id === row.service_id,
    )
    if (!isTaken) rows.push(row)
  }
  return rows
}

const types = ['VALUE', 'ALIAS', 'OVERRIDE'] as const
const definitionOf = (row: Row, value: string): Definition => ({
  id: row.id,
  scope: row.scope,
  key: row.key,
  type: types.find((type) => type === row.variable_type) ?? 'VALUE',
  text: row.variable_type === 'ALIAS' ? undefined : value,
  mountPath: undefined,
  interpolatesFile: false,
  baseId: row.base_id ?? undefined,
})
const resolvedFor = (service: (typeof services)[number], rows: readonly Row[], changed: string): Resolved =>
  resolve(
    rows
      .filter((row) => sees({ environment_id: null, service_id: service.id }, row))
      .map((row) => definitionOf(row, row.id === changed ? 'changed' : row.id)),
    [],
  )

test('a changed value affects exactly the predicted services', () => {
  fc.assert(
    fc.property(fc.array(draft, { minLength: 1, maxLength: 12 }), fc.nat(11), (drafts, choice) => {
      const rows = rowsOf(drafts)
      const row = rows[choice % rows.length]
      if (!row || row.variable_type === 'ALIAS') return
      const owner =
        row.service_id !== null
          ? { serviceId: row.service_id }
          : row.environment_id !== null
            ? { environmentId: row.environment_id }
            : { projectId: 'p' }
      const told = servicesThatSee(change({ id: row.id, owner, keys: [row.key] }), services, rows)
      const felt = services.filter((service) => {
        const [before, after] = ['', row.id].map((changed) => [...resolvedFor(service, rows, changed).variables])
        return JSON.stringify(before) !== JSON.stringify(after)
      })
      const shadowed = (id: string): boolean => told.includes(id) && !felt.some((service) => service.id === id)
      assert.deepEqual(
        felt.map(({ id }) => id).filter((id) => !told.includes(id)),
        [],
      )
      // The prediction may include a service whose only alias is hidden.
      for (const { id } of services.filter((service) => shadowed(service.id)))
        assert.ok(
          rows.some((one) => one.variable_type === 'ALIAS' && one.base_id === row.id),
          id,
        )
    }),
    { numRuns: 2000 },
  )
})
