import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseClass } from './ingress-class.ts'

const known = { metadata: { name: 'b' }, spec: { controller: 'traefik.io/ingress-controller' } }
const other = { metadata: { name: 'a' }, spec: { controller: 'example.org/gate' } }
const usual = { metadata: { name: 'c', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } } }

test('the wished class carries traffic, or the default one, or one with a known controller', () => {
  const nameOf = (classes: Parameters<typeof chooseClass>[0], wished?: string): string | undefined =>
    chooseClass(classes, wished)?.ingressClass
  assert.equal(nameOf([known, other, usual], 'a'), 'a')
  assert.equal(nameOf([known, other, usual], 'd'), undefined)
  assert.equal(nameOf([known, other, usual]), 'c')
  assert.equal(nameOf([other, known]), 'b')
  assert.equal(nameOf([other]), 'a')
  assert.equal(nameOf([]), undefined)
})

test('the controller is that of the class', () => {
  assert.deepEqual(chooseClass([known], undefined), { ingressClass: 'b', controller: 'traefik' })
  assert.deepEqual(chooseClass([usual], undefined), { ingressClass: 'c', controller: 'other' })
})
