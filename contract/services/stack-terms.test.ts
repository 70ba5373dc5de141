import assert from 'node:assert/strict'
import { test } from 'node:test'
import { subActionOf, triggerActionOf } from './stack-terms.ts'

test('subActionOf names the work of a request on a stack', () => {
  assert.equal(subActionOf('terraform', 'DEPLOY', null), 'TERRAFORM_PLAN_AND_APPLY')
  assert.equal(subActionOf('terraform', 'DEPLOY', 'PLAN'), 'TERRAFORM_PLAN_ONLY')
  assert.equal(subActionOf('terraform', 'DEPLOY', 'FORCE_UNLOCK'), 'TERRAFORM_FORCE_UNLOCK_STATE')
  assert.equal(subActionOf('terraform', 'DEPLOY', 'MIGRATE_STATE'), 'TERRAFORM_MIGRATE_STATE')
  assert.equal(subActionOf('terraform', 'DELETE', null), 'TERRAFORM_DESTROY')
  assert.equal(subActionOf('terraform', 'UNINSTALL', 'RESOURCES_ONLY'), 'TERRAFORM_DESTROY')
})

test('subActionOf is NONE for other kinds, before a request, and if nothing runs', () => {
  assert.equal(subActionOf('helm', 'DEPLOY', null), 'NONE')
  assert.equal(subActionOf('terraform', null, null), 'NONE')
  assert.equal(subActionOf('terraform', 'RESTART', null), 'NONE')
  assert.equal(subActionOf('terraform', 'DELETE', 'SKIP_DESTROY'), 'NONE')
})

test('triggerActionOf names the action on stacks if all services of the request have it', () => {
  const of = (...actions: ('PLAN' | 'FORCE_UNLOCK' | null)[]) =>
    triggerActionOf(
      'DEPLOY',
      actions.map((stack_action) => ({ stack_action })),
    )
  assert.equal(of('PLAN'), 'DEPLOY_DRY_RUN')
  assert.equal(of('FORCE_UNLOCK', 'FORCE_UNLOCK'), 'TERRAFORM_FORCE_UNLOCK')
  assert.equal(of('PLAN', null), 'DEPLOY')
  assert.equal(of(null), 'DEPLOY')
  assert.equal(of(), 'DEPLOY')
})
