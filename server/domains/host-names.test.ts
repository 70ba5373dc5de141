import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publicHosts } from './host-names.ts'

const port = (name: string, internal_port: number, is_default: boolean, publicly_accessible = true) => ({
  id: name,
  name,
  internal_port,
  publicly_accessible,
  is_default,
  protocol: 'HTTP' as const,
})
const id = '0123abcd-0000-4000-8000-000000000000'

test('the default port has the service’s name, and other ports have their own names', () => {
  const hosts = publicHosts({ id, name: 'Shop', ports: [port('web', 80, true), port('admin', 81, false)] }, 'localhost')
  assert.deepEqual(
    hosts.map(({ host }) => host),
    ['shop-0123abcd.localhost', 'admin-shop-0123abcd.localhost'],
  )
})

test('a port of gRPC has a host, and the router learns what it speaks', () => {
  const ports = [port('web', 80, true), { ...port('calls', 90, false), protocol: 'GRPC' as const }]
  assert.deepEqual(
    publicHosts({ id, name: 'Shop', ports }, 'localhost').map(({ host, speaks_http2 }) => [host, speaks_http2]),
    [
      ['shop-0123abcd.localhost', false],
      ['calls-shop-0123abcd.localhost', true],
    ],
  )
})

test('private ports have no host', () => {
  assert.deepEqual(publicHosts({ id, name: 'db', ports: [port('p', 80, false, false)] }, 'localhost'), [])
})

test('any service name becomes a valid DNS label', () => {
  for (const name of ['ÄÖ ü', '💥', '-a-', 'x'.repeat(63), 'a;id', '../x', `${'y'.repeat(53)}--z`]) {
    const [found] = publicHosts({ id, name, ports: [port('web', 80, true)] }, 'example.org')
    assert.match(found?.host ?? '', /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.example\.org$/, name)
  }
})

test('a port has its own host and the service’s host when it has a path, otherwise only one of them', () => {
  const api = { ...port('api', 82, false), public_path: '/api/(.*)', public_path_rewrite: '/v1/$1' }
  const moved = { ...port('moved', 83, false), public_path_rewrite: '/x' }
  const hosts = publicHosts({ id, name: 'shop', ports: [port('web', 80, true), api, moved] }, 'localhost')
  assert.deepEqual(
    hosts.map(({ host, path, rewrite, port_name }) => [host, path, rewrite, port_name]),
    [
      ['shop-0123abcd.localhost', '/', null, 'web'],
      ['api-shop-0123abcd.localhost', '/api', '/v1', 'api'],
      ['shop-0123abcd.localhost', '/api', '/v1', 'api'],
      ['moved-shop-0123abcd.localhost', '/', '/x', 'moved'],
    ],
  )
})
