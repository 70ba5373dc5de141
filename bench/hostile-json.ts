import { readDiffIds, readManifest } from '../server/engines/docker/registry/manifest.ts'
import { parseForeign, readForeign } from '../server/lib/foreign-json.ts'
import type { Secret } from '../server/lib/secret.ts'
import { payloadReader } from '../server/pushes/payloads.ts'
import { chartsIn } from '../server/registries/read-index.ts'
import { planIn, resultIn } from '../server/stacks/foreign-files.ts'
import { readState } from '../server/stacks/state-file.ts'
import type { HostileText } from './hostile-texts.ts'

const mebibyte = 2 ** 20
const platform = { os: 'linux', architecture: 'amd64', variant: undefined }

/** A hostile text that is made when it is needed. */
export interface Prepared extends Pick<HostileText, 'name' | 'read'> {
  /** Makes the text and returns its length in bytes. */
  prepare(): number
}

/** Returns `bytes` of text at most: `head`, as many parts as fit, and `tail`. */
function filled(head: string, part: string | ((index: number) => string), tail: string, bytes: number): Buffer {
  const room = bytes - head.length - tail.length
  if (typeof part === 'string') return Buffer.from(`${head}${part.repeat(Math.floor(room / part.length))}${tail}`)
  const parts = [head]
  let left = room
  for (let index = 0; ; index++) {
    const next = part(index)
    left -= next.length
    if (left < 0) return Buffer.from([...parts, tail].join(''))
    parts.push(next)
  }
}

/** The largest texts of JSON from outside, in the worst forms for their readers. */
export function hostileJson(secrets: readonly Secret[]): Prepared[] {
  const texts = (name: string, read: (json: Buffer) => unknown, of: readonly (() => Buffer)[]): Prepared[] =>
    of.map((make, index) => {
      let made: Buffer | undefined
      // Kept from `prepare` until it is read: together they are half a gibibyte.
      const take = (): Buffer => {
        const json = made ?? make()
        made = undefined
        return json
      }
      return {
        name: `${name} ${index + 1}`,
        prepare: () => {
          made = make()
          return made.length
        },
        read: () => read(take()),
      }
    })
  const lists = (bytes: number) => () => filled('{"x":[', '[],', '0]}', bytes)
  const nested = (bytes: number) => () => filled('{"x":', '[', '}', bytes)
  const members = (bytes: number) => () => filled('{', (index) => `"m${index}":1,`, '"z":1}', bytes)
  const text = (bytes: number) => () => filled('{"x":"', '\\"', '"}', bytes)
  const each = (bytes: number) => [lists(bytes), nested(bytes), members(bytes), text(bytes)]
  const plan = 32 * mebibyte
  const change = '"change":{"actions":["create"],"after":'
  const created = '{"actions":["create"]}'
  return [
    ...texts('plan of a stack', (json) => planIn(json, secrets), [
      () => filled('{"output_changes":{"a":', '[', '}}', plan),
      () => filled('{"output_changes":{', (index) => `"o${index}":${created},`, `"z":${created}}}`, plan),
      () => filled(`{"resource_changes":[{"address":"a",${change}{`, (index) => `"a${index}":1,`, '"z":1}}}]}', plan),
      () => filled(`{"resource_changes":[{"address":"a",${change}{"a":"`, 'x', '"}}}]}', plan),
      () => filled('{"resource_changes":[', `{"address":"a",${change}{"a":"${'x'.repeat(200)}"}}},`, '0]}', plan),
      () => filled('{"prior_state":"', '\\"', '"}', plan),
      () => filled('{"resource_changes":[', '{},', '{}]}', plan),
    ]),
    ...texts('result of a stack', (json) => resultIn(json, secrets), [
      () => filled('{"values":{"root_module":{"resources":[{"values":{"a":[', '[],', '0]}}]}}}', 16 * mebibyte),
      () => filled('{"values":{"root_module":{"resources":[{"values":{"a":[', '[],', '0]}}]}}}', 2 * mebibyte),
      () => filled('{"values":{"outputs":{', (index) => `"o${index}":{"value":1},`, '"z":{}}}}', 9 * mebibyte),
      () => filled('{"values":{"root_module":{"resources":[{"values":{"a":"', 'x', '"}}]}}}', 16 * mebibyte),
    ]),
    ...texts('state of a stack', readState, each(16 * mebibyte)),
    ...texts('message of a provider', (json) => readForeign(payloadReader, { json }, 'GITHUB'), each(24 * mebibyte)),
    ...texts('answer of a provider, registry or cluster', parseForeign, [
      ...each(4 * mebibyte),
      // As many values as are accepted.
      lists(140_000),
      members(560_000),
    ]),
    ...texts('manifest of an image', (json) => readManifest(json, platform), each(4 * mebibyte)),
    ...texts('configuration of an image', (json) => readDiffIds(json, 1), each(8 * mebibyte)),
    ...texts('large chart index', chartsIn, [
      () => filled('entries:\n  a:\n', '  - version: 1\n', '', 32 * mebibyte),
      () => filled('entries:\n', (index) => `  c${index}:\n  - version: 1\n`, '', 32 * mebibyte),
      () => filled('{"entries":{"a":[', '{"version":"1"},', '{}]}}', 32 * mebibyte),
    ]),
  ]
}
