import assert from 'node:assert/strict'
import { test } from 'node:test'
import { argumentRefusal } from './terraform-arguments.ts'

test('an argument of the list is accepted with one value', () => {
  for (const word of [
    '-target=module.a["b c"].d',
    '--parallelism=3',
    '-refresh=false',
    '-var=a=-destroy',
    '-var-file=a.tfvars',
  ]) {
    assert.equal(argumentRefusal('plan', word), undefined, word)
  }
  for (const word of ['-upgrade', '-upgrade=true', '-backend-config=bucket=a', '-reconfigure']) {
    assert.equal(argumentRefusal('init', word), undefined, word)
  }
})

test('an argument that would leak, escape or redirect the run is refused', () => {
  const escapes = [
    '-state=/etc/passwd',
    '-out=/x',
    '-destroy',
    '-json',
    '-chdir=/',
    'plan',
    '-',
    '',
    '-target',
    '-target=',
  ]
  const paths = ['-var-file=/etc/passwd', '-var-file=../a', '-var-file=a/../../b']
  const lines = ['-var=a=1\n-destroy', '-var=a=1\0', '-constructor=x', '-toString', '-__proto__=x']
  for (const word of [...escapes, ...paths, ...lines]) assert.notEqual(argumentRefusal('plan', word), undefined, word)
})

test('an apply refuses what its plan has decided, and says so', () => {
  assert.match(
    argumentRefusal('apply', '-target=a.b') ?? '',
    /; the plan decides the rest, so add arguments to "plan"$/,
  )
})

test('arguments of an action that is not run are refused', () => {
  assert.equal(argumentRefusal('fmt', '-check'), 'must be empty: the platform does not run "fmt"')
})
