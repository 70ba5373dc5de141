import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildOrder } from '../build-order.ts'
import { recipeOf } from '../builder.cases.ts'
import { solveRequest } from './solve-request.ts'

const text = 'ARG BUILDKIT_SYNTAX\nARG A\nFROM node\nRUN true\n'
const place = {
  session: 's',
  reference: 'r',
  bases: [{ reference: 'base.quayside.invalid/image:1', digest: 'sha256:0' }],
}

test('a build gets everything through its session, and no entitlement', () => {
  const variables = { BUILDKIT_SYNTAX: 'evil/frontend', A: '1', B: '2' }
  const { FrontendAttrs, Frontend, Exporters, ...rest } = solveRequest(
    buildOrder(recipeOf('one', text, { variables })),
    place,
  )
  assert.equal(Frontend, 'dockerfile.v0')
  const { 'label:quayside.recipe': recipe, ...attributes } = FrontendAttrs as Record<string, string>
  assert.match(String(recipe), /^[0-9a-f]{40}$/)
  assert.deepEqual(attributes, {
    context: 'http://buildkit-session/s',
    filename: 'Dockerfile',
    'label:quayside.service': 'one',
    'build-arg:A': '1',
    'build-arg:BUILDKIT_CACHE_MOUNT_NS': 'one',
    'context:base.quayside.invalid/image:1': 'oci-layout://base@sha256:0',
  })
  assert.deepEqual(Exporters, [{ Type: 'oci', Attrs: { tar: 'false', 'oci-mediatypes': 'true' } }])
  assert.deepEqual(rest, { Ref: 'r', Session: 's', Internal: true })
})

test('a build without the cache and with a target says so', () => {
  const recipe = recipeOf('one', text, { ignoresCache: true, targetStage: 'web' })
  const { FrontendAttrs } = solveRequest(buildOrder(recipe), place)
  assert.equal(FrontendAttrs['no-cache'], '')
  assert.equal(FrontendAttrs['target'], 'web')
})
