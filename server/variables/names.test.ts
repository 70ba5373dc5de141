import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../lib/error.ts'
import { checkDescription, checkKey, checkMountPath, checkValue, maxValueBytes } from './names.ts'

const refused = (field: string) => (error: unknown) =>
  error instanceof AppError && error.code === 'invalid' && error.message.startsWith(`${field}: `)

test('keys that could break an environment are rejected', () => {
  const bad = ['', 'A=B', 'A\nEVIL=1', 'A\n', 'A\0', 'A B', '1A', '-A', '_A', 'é', 'A'.repeat(256), '__A', '__proto__']
  for (const key of [...bad, 'QOVERY_', 'QOVERY_PROJECT_ID'])
    assert.throws(() => checkKey(key), refused('key'), JSON.stringify(key))
})

test('ordinary keys are unchanged', () => {
  for (const key of ['A', 'a', 'PATH', 'HOSTNAME', 'constructor', 'toString', 'A__1', 'A'.repeat(255), 'qovery_x'])
    assert.equal(checkKey(key), key)
})

test('any text without NUL is a valid value', () => {
  for (const value of ['', ' a ', '$(id)', '%s', '"\'', 'a\nb', '😀', 'x'.repeat(maxValueBytes)])
    assert.equal(checkValue(value), value)
})

test('values that no process can receive are rejected', () => {
  for (const value of ['a\0b', 'x'.repeat(maxValueBytes + 1), 'é'.repeat(maxValueBytes / 2 + 1), '\ud800'])
    assert.throws(() => checkValue(value), refused('value'))
})

test('the largest value with the longest key fits the limit of Linux', () => {
  assert.ok(255 + '=\0'.length + maxValueBytes <= 131_072)
})

test('descriptions are counted in code points', () => {
  assert.equal(checkDescription('😀'.repeat(255)).length, 510)
  assert.throws(() => checkDescription('a'.repeat(256)), refused('description'))
  assert.throws(() => checkDescription('\0'), refused('description'))
})

test('mount paths outside the file system of the workload are rejected', () => {
  const escapes = [
    '',
    '/',
    '../x',
    'relative',
    '$(id)',
    '/etc/../proc/1',
    '/a/./b',
    '/a//b',
    '/a/',
    '//',
    '/a\nb',
    '/a\0',
  ]
  const kernel = ['/proc', '/proc/1', '/sys', '/sys/x', '/dev', '/dev/null', '/var/run/docker.sock', '/run/docker.sock']
  for (const path of [...escapes, ...kernel, `/${'a'.repeat(4096)}`])
    assert.throws(() => checkMountPath(path), refused('mount_path'), JSON.stringify(path))
})

test('ordinary mount paths are unchanged', () => {
  for (const path of ['/etc/app/config.yml', '/procs', '/a..b', '/.env', '/$(id)', '/devices/x', '/var/run/x'])
    assert.equal(checkMountPath(path), path)
})
