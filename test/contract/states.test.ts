import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type State, stateNames } from '../../contract/states.ts'
import { createPlatform } from '../support/platform.ts'
import { goodRequest, idsOf, operations, pathOf } from './requests.ts'

/** Which operations use the two dialects of `state` (ADR 0003). All others use only one. */
const platform = await createPlatform({ after })
const { a, call, database } = platform
const { environmentId } = a.objects

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Lists the values of all members named `state`. */
function statesIn(value: unknown, at = ''): [string, unknown][] {
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const own: [string, unknown][] = key.endsWith('state') && typeof inner === 'string' ? [[`${at}.${key}`, inner]] : []
    return [...own, ...statesIn(inner, `${at}.${key}`)]
  })
}

/**
 * Lists the members named `state` whose schema accepts any string, or words of the short dialect.
 */
function shortStates(schema: unknown, at = ''): string[] {
  if (!isObject(schema)) return []
  const own = Object.entries(isObject(schema['properties']) ? schema['properties'] : {})
  const found = own.flatMap(([key, inner]) => {
    if (!key.endsWith('state') || !isObject(inner) || inner['type'] !== 'string') return []
    const words = inner['enum']
    return !Array.isArray(words) || (words.includes('DEPLOYED') && words.includes('RUNNING')) ? [`${at}.${key}`] : []
  })
  return [...found, ...Object.entries(schema).flatMap(([key, inner]) => shortStates(inner, `${at}.${key}`))]
}

test('only the status of an application may use short states, as the contract says', () => {
  const speaking = operations.filter(([, { shortStates: is }]) => is).map(([name]) => name)
  assert.deepEqual(speaking, ['getApplicationStatus'])
  const found = operations.filter(([, { reply, plan }]) =>
    [reply, plan].some((schema) => shortStates(schema).length > 0),
  )
  assert.deepEqual(
    found.map(([name]) => name),
    ['getApplicationStatus'],
  )
})

const cases: readonly (readonly [State, string])[] = [
  ['DEPLOYED', 'RUNNING'],
  ['RESTARTED', 'RUNNING'],
  ['DEPLOYMENT_ERROR', 'ERROR'],
  ['STOPPED', 'STOPPED'],
]
for (const [state, short] of cases) {
  test(`a service that is ${state} is so in every answer, and ${short} only in the status of an application`, async () => {
    await database`update service set state = ${state} where environment_id = ${environmentId}`
    let seen = 0
    for (const [name, operation] of operations) {
      if (operation.method !== 'GET' || goodRequest(name).refused) continue
      const { query, credential } = goodRequest(name, a.objects)
      if (credential) continue
      const search = new URLSearchParams(
        Object.entries(query ?? {}).map(([key, value]): [string, string] => [key, String(value)]),
      )
      const path = `${pathOf(operation, idsOf(operation, a.objects))}${search.size > 0 ? `?${search}` : ''}`
      for (const dialect of [undefined, 'specification', 'full']) {
        const headers = dialect === undefined ? {} : { 'x-state-dialect': dialect }
        const { body } = await call(a.tokens.ADMIN, 'GET', path, undefined, headers)
        const isShort = name === 'getApplicationStatus' && dialect !== 'full'
        for (const [at, value] of statesIn(body)) {
          if (value !== state && value !== short) continue
          seen++
          assert.equal(value, isShort ? short : state, `${name}${at} in the dialect ${dialect}`)
        }
        if (isShort) assert.deepEqual(statesIn(body)[0], ['.state', short])
      }
    }
    assert.ok(seen > 20, `${seen}`)
    assert.ok(stateNames.includes(state))
  })
}
