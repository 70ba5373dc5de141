import assert from 'node:assert/strict'
import { test } from 'node:test'
import { differing, type HostPath, redirectLoop } from './redirect-loops.ts'
import { redirectsOf } from './visitor-readers.ts'

const host = 'shop.example'
const whole: readonly HostPath[] = [{ host, path: '/', isOwn: true }]
const loopOf = (rules: Readonly<Record<string, string>>, places = whole, ports: readonly number[] = []) =>
  redirectLoop(redirectsOf(JSON.stringify(rules)), places, ports)
    ?.slice(0, 3)
    .join(' ')

test('redirects in a circle are found, whichever rules make it', () => {
  for (const [rules, start] of [
    [{ '/a': '/b', '/b': '/a' }, '/a https://shop.example/b'],
    [{ '/a': '/b', '/b': '/c', '/c/*': '/a' }, '/a https://shop.example/b'],
    [{ '/*': '/new/*' }, '/ https://shop.example/new/ https://shop.example/new/new/'],
    [{ '/docs/*': '/docs/v1/*' }, '/docs https://shop.example/docs/v1/'],
    [{ '/a/*': '/b/*', '/b/x/*': '/a/x/*' }, '/b/x https://shop.example/a/x/'],
    [{ '/a': 'https://shop.example/b', '/b': '/a' }, '/a https://shop.example/b'],
    [{ '/a': 'http://SHOP.example/b', '/b': 'https://shop.example/%61' }, '/a http://shop.example/b'],
    [{ '/a': '/b?x', '/b': '/a?y' }, '/a https://shop.example/b?x'],
  ] as const) {
    assert.ok(loopOf(rules)?.startsWith(`https://shop.example${start}`), `${JSON.stringify(rules)} ${loopOf(rules)}`)
  }
})

test('redirects that end are none', () => {
  for (const rules of [
    { '/old': '/new', '/new/*': '/newest/*' },
    { '/*': '/closed' },
    { '/*': '/' },
    { '/*': 'https://shop.example/*' },
    { '/*': 'https://www.shop.example/*' },
    { '/docs/*': '/docs/index.html' },
    { '/en/*': '/*' },
    { '/new/*': 'https://else.example/*', '/*': '/new/*' },
    { '/a': 'https://shop.example:9000/b', '/b': '/a' },
  ]) {
    assert.equal(loopOf(rules), undefined, JSON.stringify(rules))
  }
})

test('more redirects in a row than browsers follow are rejected', () => {
  const row = (length: number) =>
    Object.fromEntries(Array.from({ length }, (_, index) => [`/${index}`, `/${index + 1}`]).reverse())
  assert.equal(loopOf(row(20)), undefined)
  assert.ok(loopOf(row(21)))
})

test('a redirect to another service of the host ends', () => {
  const places = [...whole, { host, path: '/new', isOwn: false }]
  assert.equal(loopOf({ '/*': '/new/*' }, places), undefined)
  assert.ok(loopOf({ '/*': '/new/*' }, [...places, { host: 'www.shop.example', path: '/', isOwn: true }]))
  const below = [
    { host, path: '/', isOwn: false },
    { host, path: '/api', isOwn: true },
  ]
  assert.equal(loopOf({ '/*': '/v2/*' }, below), undefined)
  assert.ok(loopOf({ '/*': '/api/*' }, below))
})

test('redirects between two host names of a service are followed, and its own ports are', () => {
  const www = { host: '*.shop.example', path: '/', isOwn: true }
  const rules = { '/a': 'https://www.shop.example/b', '/b': 'https://shop.example/a' }
  assert.equal(loopOf(rules), undefined)
  assert.ok(loopOf(rules, [...whole, www]))
  const away = { '/a': 'https://shop.example:9000/b', '/b': '/a' }
  assert.ok(loopOf(away, whole, [9000]))
})

test('redirects of a service without a host name are followed', () => {
  assert.ok(loopOf({ '/*': '/new/*' }, []))
})

test('of host names that redirects treat alike, one is followed', () => {
  const rules = redirectsOf(JSON.stringify({ '/*': 'https://7.shop.example/*', '/a': 'https://else.example/' }))
  const hosts = Array.from({ length: 5_000 }, (_, index) => `${index}.shop.example`)
  const places = hosts.map((name) => ({ host: name, path: '/', isOwn: true }))
  const below = { host: '9.shop.example', path: '/api', isOwn: false }
  assert.deepEqual(
    differing([...places, below], rules).map((one) => one.host + one.path),
    ['0.shop.example/', '7.shop.example/', '9.shop.example/', '9.shop.example/api'],
  )
})
