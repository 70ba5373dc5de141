import assert from 'node:assert/strict'
import test from 'node:test'
import { hostOf } from './host-of.ts'

test('a host name is found whatever its case, port or closing dot', () => {
  for (const header of ['a.test', 'A.Test', 'a.test:8080', 'a.test.', 'a.test.:80'])
    assert.equal(hostOf(header), 'a.test')
  assert.equal(hostOf('127.0.0.1:80'), '127.0.0.1')
  assert.equal(hostOf('[::1]:80'), '[::1]:80')
})

test('what is not a host name gives nothing', () => {
  const wrong = [
    '',
    '.',
    ':80',
    'a b',
    'a/b',
    'a@b',
    'a:b',
    'a:',
    'a:123456',
    'ä.test',
    'a\u0000',
    '[::1',
    '-a',
    'a,b',
    'a..',
  ]
  for (const header of wrong) assert.equal(hostOf(header), undefined, header)
})
