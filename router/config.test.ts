import assert from 'node:assert/strict'
import test from 'node:test'
import { parseConfig, trustOf } from './config.ts'

test('reads the command line and says which flag is wrong', () => {
  const needed = ['--control', '/run/c', '--state', '/run/s']
  const defaults = { host: '127.0.0.1', port: 8080, control: '/run/c', state: '/run/s', trusted: [], share: false }
  assert.deepEqual(parseConfig(needed), defaults)
  const all = [...needed, '--host', '::', '--port', '0', '--trusted', '10.0.0.0/8,::1', '--share']
  assert.deepEqual(parseConfig(all), { ...defaults, host: '::', port: 0, trusted: ['10.0.0.0/8', '::1'], share: true })
  assert.throws(() => parseConfig(['--state', 'x']), /--control is missing/)
  assert.throws(() => parseConfig(['--control', 'x']), /--state is missing/)
  for (const port of ['', '-1', '70000', '80a'])
    assert.throws(() => parseConfig([...needed, `--port=${port}`]), /--port/)
  assert.throws(() => parseConfig([...needed, '--trusted', 'everyone']), /--trusted "everyone"/)
})

test('only peers of the listed networks are believed', () => {
  const trusts = trustOf(['10.0.0.0/8', '192.0.2.1', 'fd00::/8'])
  assert.deepEqual(['10.1.2.3', '192.0.2.1', 'fd00::1'].map(trusts), [true, true, true])
  assert.deepEqual(['11.0.0.1', '192.0.2.2', 'fe80::1', 'x', ''].map(trusts), [false, false, false, false, false])
  assert.equal(trustOf([])('127.0.0.1'), false)
})
