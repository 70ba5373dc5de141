import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { normalPath } from './normal-path.ts'
import { forwardedTarget, type Place, Places } from './places.ts'

const place = (path: string, rewrite?: string): { readonly place: Place } => ({ place: { path, rewrite } })
const routes = ['/', '/api', '/api/v2', '/API', '/a-b_c.d~e'].map((path) => place(path))
const places = new Places(routes)
const found = (target: string): string | undefined => {
  const path = normalPath(target)
  return path === undefined ? 'refused' : places.find(path)?.place.path
}

test('the longest path of whole segments wins, and case matters', () => {
  const expected: Record<string, string> = {
    '/': '/',
    '/api': '/api',
    '/api/': '/api',
    '/api?x=/api/v2': '/api',
    '/apis': '/',
    '/api.v2': '/',
    '/api/v2': '/api/v2',
    '/api/v2/users/7': '/api/v2',
    '/api/v20': '/api',
    '/API/v2': '/API',
    '/Api/v2': '/',
    '/%61pi/%76%32': '/api/v2',
    '/a%2db%5fc%2Ed%7ee/x': '/a-b_c.d~e',
    '/api;v=1/v2;x/y': '/api/v2',
    '/api%20': '/',
    '/caf%C3%A9': '/',
  }
  for (const [target, path] of Object.entries(expected)) assert.equal(found(target), path, target)
})

test('Places finds no route for other paths when none is at the root', () => {
  const few = new Places([place('/api')])
  assert.equal(few.find('/'), undefined)
  assert.equal(few.find('/apis'), undefined)
  assert.equal(few.find('/api/x')?.place.path, '/api')
})

test('forwardedTarget replaces the path of the route and keeps the query', () => {
  const cases: [Place['path'], string | undefined, string, string][] = [
    ['/api', undefined, '/api/%61?b=%2f', '/api/a?b=%2f'],
    ['/api', '/', '/api', '/'],
    ['/api', '/', '/api/', '/'],
    ['/api', '/', '/api?x=1', '/?x=1'],
    ['/api', '/', '/api/users/7?x=1', '/users/7?x=1'],
    ['/api', '/v1', '/api', '/v1'],
    ['/api', '/v1', '/api/', '/v1/'],
    ['/api', '/v1', '/api;x=1/users;y=2', '/v1/users;y=2'],
    ['/a/b', '/c', '/a/b/d', '/c/d'],
    ['/', '/v1', '/', '/v1/'],
    ['/', '/v1', '/users', '/v1/users'],
  ]
  for (const [path, rewrite, target, seen] of cases) {
    assert.equal(forwardedTarget({ path, rewrite }, target), seen, `${target} at ${path}`)
  }
})

const character = fc.constantFrom(
  ...'/abAB12.-_~;=%25eEfFcC0\\?'.split(''),
  '%2f',
  '%2E',
  '%61',
  '%25',
  '//',
  '..',
  '%c0%ae',
)

test('a request is matched and forwarded in the same normal form', () => {
  fc.assert(
    fc.property(fc.array(character, { maxLength: 30 }), (parts) => {
      const target = `/${parts.join('')}`
      const path = normalPath(target)
      if (path === undefined) return
      assert.equal(normalPath(path), path)
      const seen = new URL(path, 'http://host').pathname
      assert.equal(seen, path)
      assert.ok(!/\/\/|\\|%2f|%5c|%2e|%61/i.test(path), path)
      for (const rewrite of ['/', '/v1', undefined]) {
        const forwarded = forwardedTarget({ path: '/', rewrite }, target)
        assert.notEqual(normalPath(forwarded), undefined, forwarded)
      }
    }),
    { numRuns: 2000 },
  )
})

test('matching takes linear time when a path has the most segments', () => {
  const long = new Places([place('/'), place(`/${'a/'.repeat(400)}a`)])
  const measured = (size: number): number => {
    const path = normalPath('/b'.repeat(size)) ?? ''
    const times = Array.from({ length: 5 }, () => {
      const start = performance.now()
      for (let round = 0; round < 50; round++) long.find(path)
      return performance.now() - start
    })
    return Math.min(...times)
  }
  measured(4_000)
  const [short, four] = [measured(4_000), measured(16_000)]
  assert.ok(four < 20 * Math.max(short, 0.2), `${short} ms, and ${four} ms for four times as much`)
})
