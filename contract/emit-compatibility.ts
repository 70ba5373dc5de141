import { readFileSync, writeFileSync } from 'node:fs'
import { contract, type Operation } from './contract.ts'
import { eventStream } from './event-stream.ts'
import { extensionMark, type TSchema } from './schema.ts'
import { type Stream, streamPaths, streams } from './streams.ts'

/** An operation of the public API. */
interface PublicOperation {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly tier: 0 | 1 | 2
}

const titles = {
  0: 'The specification',
  1: 'Life cycles and needs of clients',
  2: 'Catalogues, browsing and records',
} as const

/** Returns the query and body fields that are extensions, with their operations. */
function extendedMembers(): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const [name, { extension, query, body }] of Object.entries<Operation>(contract)) {
    const members: Record<string, TSchema> = { ...query?.properties, ...body?.['properties'] }
    for (const [member, schema] of Object.entries(members)) {
      if (schema[extensionMark] && !extension) found.set(member, [...(found.get(member) ?? []), name])
    }
  }
  return found
}

const streamRows = streamPaths.map((path) => {
  const { refuses }: Stream = streams[path]
  return `| ${path} | ${refuses ? `closed with 1008: ${refuses}` : 'implemented'} |`
})

/** Returns the sections on WebSockets and on extensions of the public API. */
const beside = (): string[] => [
  '## WebSockets',
  '',
  '| Path | Here |',
  '|---|---|',
  ...streamRows,
  '',
  '## Extensions',
  '',
  'Operations and fields that the public API does not have. `x-quayside-extension` marks them in the OpenAPI document.',
  '',
  '| Operation | Request | |',
  '|---|---|---|',
  ...Object.entries<Operation>(contract)
    .filter(([, { extension }]) => extension)
    .map(([name, { method, path, summary }]) => `| ${name} | ${method} ${path} | ${summary} |`),
  `| streamOrganizationChanges | ${eventStream.method} ${eventStream.path} | ${eventStream.summary} |`,
  '',
  '| Member | Of |',
  '|---|---|',
  ...[...extendedMembers()].map(([member, names]) => `| \`${member}\` | ${names.join(', ')} |`),
  '',
]

/** Returns the page that states how every operation of the public API is supported. */
export function compatibilityPage(known: readonly PublicOperation[]): string {
  const own = new Map(Object.entries<Operation>(contract))
  const answerOf = ({ name }: PublicOperation): string => {
    const operation = own.get(name)
    if (!operation) return '**absent** (404)'
    return operation.refuses ? `answers 400: ${operation.refuses}` : 'implemented'
  }
  const section = (tier: PublicOperation['tier']): string[] => {
    const rows = known.filter((operation) => operation.tier === tier)
    const done = rows.filter((row) => answerOf(row) === 'implemented').length
    return [
      `## ${titles[tier]} (${done} of ${rows.length} implemented)`,
      '',
      '| Operation | Request | Here |',
      '|---|---|---|',
      ...rows.map((row) => `| ${row.name} | ${row.method} ${row.path} | ${answerOf(row)} |`),
      '',
    ]
  }
  return [
    '# Compatibility',
    '',
    'The operations of the public API and their support. Written by `node contract/emit-compatibility.ts`; a ' +
      'test compares it with the contract.',
    'Unlisted operations concern only the makers of that API (billing, assistants, their own services). They ' +
      'answer 404.',
    '',
    'Advanced settings have every key and default of that API. A value that has no effect on its cluster is ' +
      'rejected with 400, unless it is the',
    'default or already stored. An unknown key is rejected too.',
    '',
    ...section(0),
    ...section(1),
    ...section(2),
    ...beside(),
  ].join('\n')
}

export const readPublicOperations = (): readonly PublicOperation[] =>
  JSON.parse(readFileSync(new URL('public-operations.json', import.meta.url), 'utf8'))

if (import.meta.main) {
  writeFileSync(new URL('../docs/compatibility.md', import.meta.url), compatibilityPage(readPublicOperations()))
}
