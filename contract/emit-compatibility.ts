import { readFileSync, writeFileSync } from 'node:fs'
import { contract, type Operation } from './contract.ts'
import { eventStream } from './event-stream.ts'
import { extensionMark, type TSchema } from './schema.ts'
import { type Stream, streamPaths, streams } from './streams.ts'

/** An operation of the public API, as its clients know it. */
interface PublicOperation {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly tier: 0 | 1 | 2
}

const titles = {
  0: 'The specification',
  1: 'Life cycles, and what clients need',
  2: 'Catalogues, browsing and records',
} as const

/** Members of queries and bodies that are marked, and the operations that have them. */
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

/** What the public API has and is no operation of its document; what is here and the public API does not have. */
const beside = (): string[] => [
  '## WebSockets',
  '',
  '| Path | Here |',
  '|---|---|',
  ...streamRows,
  '',
  '## Extensions',
  '',
  'What is here and not in the public API. `x-quayside-extension` marks it in the OpenAPI document.',
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

/** The page that says of every operation of the public API what becomes of it here. */
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
    'Which operations of the public API are here. Written by `node contract/emit-compatibility.ts`; a test holds it to the contract. What',
    'is not listed belongs to the makers of that API alone (billing, assistants, their own services) and is answered with 404.',
    '',
    'Advanced settings keep every key and default of that API. A value that would do nothing on its cluster is answered with 400, unless it',
    'is the default or stored already; so is a key that is not known here.',
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
