import assert from 'node:assert/strict'
import test from 'node:test'
import { parseConfig } from './config.ts'

test('parseConfig reads the command line and names the invalid flag', () => {
  const needed = ['--control', '/run/c', '--state', '/run/s']
  const defaults = { host: '127.0.0.1', port: 8080, control: '/run/c', state: '/run/s', trusted: [], share: false }
  const usual = { connections: { total: 10_000, perClient: 1_000 } }
  assert.deepEqual(parseConfig(needed), { ...defaults, ...usual })
  const all = [
    ...needed,
    '--host',
    '::',
    '--port',
    '0',
    '--trusted',
    '10.0.0.0/8,::1',
    '--proxies=192.0.2.0/24',
    '--share',
    '--public-port=80',
    '--public-tls-port=443',
    '--connections=50',
    '--connections-per-client=5',
  ]
  assert.deepEqual(parseConfig(all), {
    ...defaults,
    host: '::',
    port: 0,
    trusted: ['10.0.0.0/8', '::1'],
    proxies: ['192.0.2.0/24'],
    publicPort: 80,
    publicTlsPort: 443,
    share: true,
    connections: { total: 50, perClient: 5 },
  })
  assert.throws(() => parseConfig(['--state', 'x']), /--control is missing/)
  assert.throws(() => parseConfig(['--control', 'x']), /--state is missing/)
  for (const port of ['', '-1', '70000', '80a'])
    assert.throws(() => parseConfig([...needed, `--port=${port}`]), /--port/)
  for (const flag of ['--public-port', '--public-tls-port'])
    for (const port of ['0', '70000', 'x'])
      assert.throws(() => parseConfig([...needed, flag, port]), /is not a port number/)
  for (const flag of ['--connections=0', '--connections-per-client=x'])
    assert.throws(() => parseConfig([...needed, flag]), /--connections/)
  for (const flag of ['--trusted', '--proxies'])
    assert.throws(() => parseConfig([...needed, flag, 'everyone']), new RegExp(`${flag}: "everyone" is not`))
})
