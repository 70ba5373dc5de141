import { block, type Frame, flags, types } from './http2-frames.ts'
import { data, head, numbers, ok, response } from './raw-http2-server.ts'

type Fields = Parameters<typeof block>[0]
/** The frames by which an application answers a request. */
export type Attack = (stream: number) => readonly Frame[]

const withFields =
  (...fields: Fields): Attack =>
  (stream) =>
    response(stream, 'hello', fields)
const withTrailers =
  (fields: Fields, set = flags.endHeaders | flags.endStream): Attack =>
  (stream) => [head(stream), data(stream, 'hello'), head(stream, fields, set)]
/** Headers in as many frames as they need. */
const inFrames =
  (fields: Fields): Attack =>
  (stream) => {
    const bytes = block(fields)
    const starts = Array.from({ length: Math.ceil(bytes.length / 16_000) }, (_, index) => index * 16_000)
    return starts.map((at) => ({
      type: at === 0 ? types.headers : types.continuation,
      flags: (at === 0 ? flags.endStream : 0) | (at + 16_000 >= bytes.length ? flags.endHeaders : 0),
      stream,
      payload: bytes.subarray(at, at + 16_000),
    }))
  }
const before =
  (...frames: readonly Frame[]): Attack =>
  (stream) => [...frames, ...response(stream, 'hello')]
const many = (count: number, size: number): Fields =>
  Array.from({ length: count }, (_, index) => [`x-${index}`, 'a'.repeat(size)])
const interim = (stream: number, status: string, ...fields: Fields) => head(stream, [[':status', status], ...fields])

/** Answers that end their own stream alone. */
export const invalid: Readonly<Record<string, Attack>> = {
  'a header of a connection': withFields(ok, ['connection', 'x-a']),
  'a transfer coding': withFields(ok, ['transfer-encoding', 'chunked']),
  'an upgrade': withFields(ok, ['upgrade', 'h2c']),
  'a time to keep': withFields(ok, ['keep-alive', 'timeout=5']),
  'a proxy connection': withFields(ok, ['proxy-connection', 'close']),
  capitals: withFields(ok, ['X-A', 'b']),
  'no status': withFields(['x-a', 'b']),
  'no headers': (stream) => response(stream, 'hello', []),
  'two statuses': withFields(ok, ok),
  'a late status': withFields(['x-a', 'b'], ok),
  'a field of requests': withFields(ok, [':path', '/']),
  'an unknown pseudo-header': withFields(ok, [':other', 'a']),
  ...Object.fromEntries(
    ['099', '000', '99', '1000', '+20', '20a', '', '2 0', '101'].map((status) => [
      `the status "${status}"`,
      withFields([':status', status]),
    ]),
  ),
  'an interim response that ends': (stream) => [head(stream, [[':status', '103']], flags.endHeaders | flags.endStream)],
  'hints and the status 099': (stream) => [interim(stream, '103'), ...response(stream, 'hello', [[':status', '099']])],
  'hints that HTTP/2 forbids': (stream) => [interim(stream, '103', ['connection', 'a']), ...response(stream, 'hello')],
  ...Object.fromEntries(
    ['5, 5', '-5', '+5', '0x5', '18446744073709551621', ''].map((length) => [
      `the length "${length}"`,
      withFields(ok, ['content-length', length]),
    ]),
  ),
  'one length twice': withFields(ok, ['content-length', '5'], ['content-length', '5']),
  'two lengths': withFields(ok, ['content-length', '5'], ['content-length', '50']),
  'a length without a body': (stream) => [
    head(stream, [ok, ['content-length', '5']], flags.endHeaders | flags.endStream),
  ],
  'less bytes than declared': withFields(ok, ['content-length', '50']),
  'two responses': (stream) => [head(stream), ...response(stream, 'hello')],
  'a second response after the body': withTrailers([ok]),
  'trailers that do not end': withTrailers([['x-a', 'b']], flags.endHeaders),
  'trailers with a field of requests': withTrailers([[':path', '/']]),
  'trailers of a connection': withTrailers([['connection', 'x-a']]),
  'trailers with a length': withTrailers([['content-length', '60']]),
  'trailers in capitals': withTrailers([['X-A', 'b']]),
  'large trailers': (stream) => [head(stream), data(stream, 'hello'), ...inFrames(many(50, 1_000))(stream)],
  'large headers': inFrames([ok, ...many(50, 1_000)]),
  'huge headers': inFrames([ok, ...many(100, 1_000)]),
  'many headers': inFrames([ok, ...many(2_000, 1)]),
  'headers that unpack to many': (stream) => [
    {
      type: types.headers,
      flags: flags.endHeaders | flags.endStream,
      stream,
      payload: Buffer.concat([block([ok]), block([['x-bomb', 'a'.repeat(3_900)]], 0x40), Buffer.alloc(100, 0xbe)]),
    },
  ],
}

/** Answers that end their connection. */
export const fatal: Readonly<Record<string, Attack>> = {
  'a body before its headers': (stream) => [data(stream, 'hello', flags.endStream)],
  'a body of an interim response': (stream) => [interim(stream, '100'), data(stream, 'hello', flags.endStream)],
  'more bytes than declared': withFields(ok, ['content-length', '3']),
  'headers that cannot be unpacked': (stream) => [
    { type: types.headers, flags: flags.endHeaders, stream, payload: Buffer.alloc(5, 0xff) },
  ],
  'empty continuations without end': (stream) => [
    head(stream, [ok], 0),
    ...Array.from({ length: 2_000 }, () => ({ type: types.continuation, stream })),
  ],
  'another frame between headers': (stream) => [head(stream, [ok], 0), data(stream, 'hello', flags.endStream)],
  'a promise': (stream) => [
    { type: 5, flags: flags.endHeaders, stream, payload: Buffer.concat([numbers(2), block([[':method', 'GET']])]) },
  ],
  'a response to no request': (stream) => [head(stream + 100), ...response(stream, 'hello')],
  'a response on a stream of the application': before(head(2)),
  'a body on an unknown stream': (stream) => [data(stream + 100, 'EVIL'), ...response(stream, 'hello')],
  'a body on a stream of the application': before(data(2, 'EVIL')),
  'a body on the connection': before(data(0, 'EVIL')),
  'a frame that is too large': (stream) => [data(stream, 'a'.repeat(16_385))],
  'settings of a wrong size': before({ type: types.settings, payload: Buffer.alloc(5) }),
  'settings with a huge window': before({ type: types.settings, payload: Buffer.from([0, 4, 255, 255, 255, 255]) }),
  'settings with pushes': before({ type: types.settings, payload: Buffer.from([0, 2, 0, 0, 0, 1]) }),
  'settings with tiny frames': before({ type: types.settings, payload: Buffer.from([0, 5, 0, 0, 0, 1]) }),
  'a window that does not grow': before({ type: types.window, payload: numbers(0) }),
  'a window that overflows': before({ type: types.window, payload: numbers(0x7fffffff) }),
  'padding that is longer than its frame': (stream) => [
    { type: types.headers, flags: flags.endHeaders | 8, stream, payload: Buffer.from([50, 0x88]) },
  ],
  'a flood of settings': before(...Array.from({ length: 20_000 }, () => ({ type: types.settings }))),
  'a flood of pings': before(...Array.from({ length: 20_000 }, () => ({ type: types.ping, payload: Buffer.alloc(8) }))),
}

/** Answers of which a client gets this body. */
export const passing: Readonly<Record<string, Attack>> = {
  'names that no header may have': withFields(
    ok,
    ...['x-a\r\nb', 'x-a\nb', 'x-a\0b', 'x-a: b', 'x a', '', 'x\x80'].map((name) => [name, 'evil'] as const),
  ),
  'values that no header may have': withFields(
    ok,
    ...['a\r\nx-b: evil', 'a\nx-b: evil', 'a\rb', 'a\0b', ' evil ', 'a\x7f'].map((value) => ['x-a', value] as const),
  ),
  'headers that HTTP/2 forbids and Node.js knows': withFields(ok, ['te', 'trailers'], ['http2-settings', 'a']),
  'a body after the end': (stream) => [...response(stream, 'hello'), data(stream, 'EVIL')],
  'headers after the end': (stream) => [...response(stream, 'hello'), head(stream)],
  'trailers with line breaks': withTrailers([
    ['x-a', 'b\r\nx-b: evil'],
    ['x-a\r\nx-b', 'evil'],
  ]),
  'trailers that change a response': withTrailers([['set-cookie', 'evil=1']]),
  'a thousand hints': (stream) => [
    ...Array.from({ length: 1_000 }, () => interim(stream, '103', ['link', '</a>'])),
    ...response(stream, 'hello'),
  ],
  'settings without streams': before({ type: types.settings, payload: Buffer.from([0, 3, 0, 0, 0, 0]) }),
}
