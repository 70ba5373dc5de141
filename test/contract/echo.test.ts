import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Operation } from '../../contract/contract.ts'
import type { Objects } from '../support/fixture.ts'
import { createPlatform } from '../support/platform.ts'
import { fullBodies, mayDiffer, placeInAnswer } from './full-bodies.ts'
import { goodRequest, idsOf, operations, pathOf, queryOf } from './requests.ts'
import { fieldName, leavesOf, otherValues, type Path, type Schema, valueAt, withChange } from './sample.ts'

/**
 * Changes one field of a body at a time, in every operation that creates or edits. The operation
 * must reject the value or answer it. An accepted field that is not answered fails the test.
 */
const platform = await createPlatform({ after })
const { a, call } = platform
let proven = 0

/** Returns the body with new names, so that each attempt creates its own object. */
function renamed(body: unknown, field: Path, attempt: string): unknown {
  const names: Record<string, string> = { name: attempt, key: attempt, domain: `${attempt}.example.com` }
  return Object.entries(names).reduce(
    (text, [key, value]) => (key in Object(text) && field[0] !== key ? withChange(text, [key], value) : text),
    body,
  )
}

/** Returns the fields of the body that an answer for the same object has. */
function common(answer: unknown, schema: Schema): unknown {
  const { properties } = schema
  if (!properties || typeof answer !== 'object' || answer === null) return answer
  const entries = Object.entries(answer).filter(([name]) => name in properties)
  return Object.fromEntries(entries.map(([name, value]) => [name, common(value, properties[name] ?? {})]))
}

async function baseOf(name: string, operation: Operation, objects: Objects, token: string): Promise<unknown> {
  const good = goodRequest(name, objects)
  const body = { ...Object(good.of?.(objects).body ?? good.body), ...fullBodies[name] }
  const reads = operations.some(([, one]) => one.method === 'GET' && one.path === operation.path)
  if (operation.method !== 'PUT' || !reads || !operation.body) return body
  const answer = await call(token, 'GET', pathOf(operation, idsOf(operation, objects)))
  return { ...Object(common(answer.body, operation.body)), ...body }
}

const isTested = ({ method, body, refuses }: Operation, name: string): boolean =>
  body !== undefined && body['type'] === 'object' && !refuses && (method === 'PUT' || name.startsWith('create'))

for (const [name, operation] of operations.filter(([name, operation]) => isTested(operation, name))) {
  test(`${name} answers each field that it accepts`, async () => {
    const good = goodRequest(name, a.objects)
    const objects = { ...a.objects, ...(await good.prepare?.(platform, a.objects)) }
    const token = (await good.credential?.(platform, objects)) ?? a.tokens.ADMIN
    const path = `${pathOf(operation, idsOf(operation, objects))}${queryOf({ ...good, ...good.of?.(objects) })}`
    const base = await baseOf(name, operation, objects, token)
    const forgotten: string[] = []
    for (const [index, { path: field, schema }] of [...leavesOf(operation.body ?? {})].entries()) {
      for (const [turn, value] of otherValues(schema, valueAt(base, field)).entries()) {
        const attempt = `n-${index}-${turn}-${name}`.toLowerCase().slice(0, 60)
        const sent = withChange(base, field, value)
        if (valueAt(sent, field) !== value) continue
        const body = operation.method === 'POST' ? renamed(sent, field, attempt.replaceAll('-', '_')) : sent
        const answer = await call(token, operation.method, path, JSON.stringify(body))
        if (answer.status >= 400) continue
        const place = placeInAnswer(field)
        if (valueAt(answer.body, place) === value) proven++
        else if (!mayDiffer(name, fieldName(field))) forgotten.push(`${fieldName(field)}: ${JSON.stringify(value)}`)
        break
      }
    }
    assert.deepEqual(forgotten, [])
  })
}

test('most fields were accepted at least once', () => {
  assert.ok(proven > 780, `${proven} fields`)
})
