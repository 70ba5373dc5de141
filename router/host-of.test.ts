import assert from 'node:assert/strict'
import test from 'node:test'
import { hostOf } from './host-of.ts'

test('hostOf ignores case, port and trailing dot', () => {
  for (const header of ['a.test', 'A.Test', 'a.test:8080', 'a.test.', 'a.test.:80'])
    assert.equal(hostOf(header), 'a.test')
  assert.equal(hostOf('127.0.0.1:80'), '127.0.0.1')
  assert.equal(hostOf('[::1]:80'), '[::1]:80')
})

test('hostOf returns undefined when the header is not a host name', () => {
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
