import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPublicPath } from './public-path.ts'
import { checkPorts } from './rules.ts'

const read = (public_path?: string, public_path_rewrite?: string) => {
  const { path, rewrite } = readPublicPath({
    ...(public_path === undefined ? {} : { public_path }),
    ...(public_path_rewrite === undefined ? {} : { public_path_rewrite }),
  })
  return [path, rewrite]
}

test('a path of a port is read as a plain path or as one followed by everything below it', () => {
  const cases: [Parameters<typeof read>, ReturnType<typeof read>][] = [
    [[], ['/', undefined]],
    [
      ['', ''],
      ['/', undefined],
    ],
    [['/'], ['/', undefined]],
    [['/api'], ['/api', undefined]],
    [['/api/'], ['/api', undefined]],
    [['/api/v2.1/~a_b-c'], ['/api/v2.1/~a_b-c', undefined]],
    [
      ['/api', '/'],
      ['/api', '/'],
    ],
    [
      ['/api/', '/v1/'],
      ['/api', '/v1'],
    ],
    [
      ['/(.*)', '/api/$1'],
      ['/', '/api'],
    ],
    [
      ['/api/(.*)', '/$1'],
      ['/api', '/'],
    ],
    [
      ['/api/?(.*)', '/v1/$1'],
      ['/api', '/v1'],
    ],
    [
      ['/api(/|$)(.*)', '/$2'],
      ['/api', '/'],
    ],
    [['/api/.*'], ['/api', undefined]],
    [
      ['/api/.*', '/v1'],
      ['/api', '/v1'],
    ],
  ]
  for (const [given, expected] of cases) assert.deepEqual(read(...given), expected, given.join(' → '))
})

test('other paths and rewrites are rejected with the expected form', () => {
  const paths = [
    'api',
    '//',
    '/api//v1',
    '/./x',
    '/../x',
    '/a b',
    '/a%20b',
    '/a;b',
    '/a?b',
    '/a#b',
    '/a\\b',
    '/é',
    '/`)',
    '/[a-z]+',
  ]
  const patterns = [
    '^/api',
    '/api.*',
    '/(a|b)',
    '/a(.*)b',
    '/(.*)/(.*)',
    '/api(.*)',
    '/*',
    '/{x}',
    '/api\n',
    `/${'a'.repeat(1000)}`,
  ]
  for (const path of [...paths, ...patterns]) assert.throws(() => read(path), /^Error: public_path must be /, path)
  const rewrites: [string, string][] = [
    ['/api', 'v1'],
    ['/api', '/v1/$1'],
    ['/api', '/../x'],
    ['/api', '/v 1'],
    ['/api', 'http://other.example/'],
    ['/api/(.*)', '/v1'],
    ['/api/(.*)', '/v1$1'],
    ['/api/(.*)', '/$2'],
    ['/api/(.*)', '/$1/$1'],
    ['/api(/|$)(.*)', '/$1'],
    ['/api/.*', '/$1'],
  ]
  for (const [path, rewrite] of rewrites) {
    assert.throws(() => read(path, rewrite), /^Error: public_path_rewrite must be /, `${path} → ${rewrite}`)
  }
})

const port = (internal_port: number, rest: Partial<Parameters<typeof checkPorts>[0][number]> = {}) => ({
  id: `${internal_port}`,
  name: `p${internal_port}`,
  internal_port,
  publicly_accessible: true,
  protocol: 'HTTP' as const,
  is_default: false,
  ...rest,
})

test('ports that share a host name have different paths, and only public HTTP ports have one', () => {
  checkPorts([
    port(80, { is_default: true }),
    port(81),
    port(82, { public_path: '/api' }),
    port(83, { public_path: '/' }),
  ])
  checkPorts([port(80, { is_default: true, publicly_accessible: false, public_path: '/' })])
  const refused = (ports: Parameters<typeof checkPorts>[0], message: RegExp): void =>
    assert.throws(() => checkPorts(ports), { code: 'invalid', message })
  refused(
    [port(80, { public_path: '/api' }), port(81, { public_path: '/api/' })],
    /^ports\[1\]\.public_path is already used by ports\[0\]/,
  )
  refused(
    [port(80, { is_default: true, public_path: '/a' }), port(81, { public_path: '/a' })],
    /^ports\[1\]\.public_path/,
  )
  refused([port(80, { publicly_accessible: false, public_path: '/a' })], /^ports\[0\]\.public_path must be absent/)
  refused([port(80, { protocol: 'TCP', public_path_rewrite: '/a' })], /^ports\[0\]\.public_path must be absent/)
  refused([port(80, { public_path: 'a' })], /^ports\[0\]\.public_path must be a path such as \/api/)
  refused([port(80, { public_path_rewrite: 'a' })], /^ports\[0\]\.public_path_rewrite must be a path such as \/v1/)
})

test('a path as long as a body allows is read in linear time', () => {
  const started = performance.now()
  for (const tail of ['(', '/', '.*', '(.*)', '/?(', '$']) assert.throws(() => read(`/${tail.repeat(100_000)}`))
  assert.ok(performance.now() - started < 1000)
})
