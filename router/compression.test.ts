import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseCoding } from './accept-encoding.ts'
import { compressionOf } from './compression.ts'

test('the coding is the one with the highest weight, and among equals the best of ours', () => {
  const cases: Readonly<Record<string, string | undefined>> = {
    'gzip, deflate, br, zstd': 'zstd',
    'gzip, deflate, br': 'br',
    gzip: 'gzip',
    'x-gzip': 'gzip',
    'GZIP;Q=1': 'gzip',
    'br;q=0.5, gzip;q=0.8': 'gzip',
    'br;q=0, gzip;q=0.1': 'gzip',
    'zstd;q=0, *': 'br',
    '*': 'zstd',
    '*;q=0': undefined,
    'gzip;q=0': undefined,
    identity: undefined,
    'identity, gzip;q=0.5': undefined,
    'identity;q=0.2, gzip;q=0.5': 'gzip',
    'gzip;q=2': undefined,
    'gzip;q=x': undefined,
    deflate: undefined,
    '': undefined,
    ',,;;q=,': undefined,
  }
  for (const [header, coding] of Object.entries(cases)) assert.equal(chooseCoding(header), coding, header)
  assert.equal(chooseCoding(undefined), undefined)
})

test('a header that no real client sends is not read', () => {
  assert.equal(chooseCoding(`${'gzip,'.repeat(6_000)}br`), undefined)
})

const page = [
  'Content-Type',
  'text/html; charset=utf-8',
  'Content-Length',
  '5000',
  'ETag',
  '"a"',
  'Accept-Ranges',
  'bytes',
]
const of = (headers: readonly string[], more: object = {}, mayCompress = true) =>
  compressionOf(
    { status: 200, method: 'GET', headers, acceptEncoding: 'gzip', cacheControl: undefined, ...more },
    mayCompress,
  )

test('a compressed response has a weak tag, names its coding, and has no length and no ranges', () => {
  assert.deepEqual(of(page)?.headers, [
    ...['Content-Type', 'text/html; charset=utf-8', 'ETag', 'W/"a"'],
    ...['Vary', 'Accept-Encoding', 'Content-Encoding', 'gzip'],
  ])
  assert.equal(of([...page, 'Vary', 'Origin, accept-encoding'])?.headers.filter((name) => name === 'Vary').length, 1)
})

test('HEAD has the headers of GET', () => {
  assert.deepEqual(of(page, { method: 'HEAD' })?.headers, of(page)?.headers)
})

test('a response of a type that compresses varies also for clients that accept no coding', () => {
  for (const plain of [of(page, { acceptEncoding: undefined }), of(page, {}, false)]) {
    assert.equal(plain?.coding, undefined)
    assert.deepEqual(plain?.headers, [...page, 'Vary', 'Accept-Encoding'])
  }
})

test('a part of a response, and a note that it is unchanged, vary as the response does', () => {
  const varied = (status: number, headers: string[], acceptEncoding = 'gzip') =>
    compressionOf({ status, method: 'GET', headers, acceptEncoding, cacheControl: undefined }, true)
  assert.deepEqual(varied(304, ['ETag', '"one"'])?.headers, ['ETag', 'W/"one"', 'Vary', 'Accept-Encoding'])
  assert.deepEqual(varied(304, ['ETag', '"one"'], '')?.headers, ['ETag', '"one"', 'Vary', 'Accept-Encoding'])
  const part = ['Content-Type', 'text/html', 'Content-Range', 'bytes 0-9/5000', 'ETag', '"one"']
  assert.deepEqual(varied(206, part), {
    coding: undefined,
    isStream: false,
    headers: [...part, 'Vary', 'Accept-Encoding'],
  })
  for (const headers of [
    ['Content-Type', 'image/png'],
    ['Content-Type', 'text/html', 'Cache-Control', 'no-transform'],
    ['Content-Type', 'text/html', 'Content-Encoding', 'br'],
  ]) {
    for (const status of [206, 304]) assert.equal(varied(status, headers), undefined, headers.join())
  }
  assert.equal(varied(206, ['Content-Range', 'bytes 0-9/5000']), undefined)
})

test('responses that must not change are left alone', () => {
  const text = ['Content-Type', 'text/plain']
  const alone: readonly (readonly [readonly string[], object?])[] = [
    [['Content-Type', 'image/png', 'Content-Length', '5000']],
    [['Content-Type', 'text/plain', 'Content-Length', '1023']],
    [['Content-Type', 'text/plain', 'Content-Length', 'x']],
    [['Content-Length', '5000']],
    [[...text, 'Content-Encoding', 'br']],
    [[...text, 'content-encoding', 'identity', 'Content-Encoding', 'gzip']],
    [[...text, 'Cache-Control', 'public, No-Transform']],
    [text, { cacheControl: 'no-transform' }],
    [[...text, 'Content-Range', 'bytes 0-4/5']],
    [[...text, 'Content-Digest', 'sha-256=:x:']],
    [[...text, 'Content-Type', 'image/png']],
    ...[101, 204, 205].map((status) => [text, { status }] as const),
    [['Content-Type', 'application/grpc']],
    [['Content-Type', 'application/octet-stream']],
    [['Content-Type', '']],
  ]
  for (const [headers, more] of alone) assert.equal(of(headers, more), undefined, JSON.stringify([headers, more]))
})

test('types that compress', () => {
  const types = [
    'text/css',
    'application/json',
    'application/ld+json',
    'image/svg+xml',
    'application/wasm',
    'text/event-stream',
  ]
  for (const type of types) assert.equal(of(['Content-Type', type])?.coding, 'gzip', type)
  assert.equal(of(['Content-Type', 'text/css'])?.isStream, true)
  assert.equal(of(page)?.isStream, false)
})
