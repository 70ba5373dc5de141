import {
  bootstrapExceptions,
  bootstrapImporters,
  joiningRooms,
  libraryPlaces,
  roomImports,
  typesPastTheDoor,
} from './imports.ts'

const begin = '<!-- Written by `npm run emit` from test/structure/imports.ts -->'
const end = '<!-- End of the written part -->'

const code = (text: string): string => `\`${text}\``

/** Returns the tables of imports as Markdown. */
export function importTables(): string {
  const rooms = Object.entries(roomImports).map(([room, others]) => `| ${room} | ${others.join(' ') || '–'} |`)
  const libraries = Object.entries(libraryPlaces).map(
    ([library, places]) => `| ${library} | ${places.map(code).join(' ')} |`,
  )
  const exceptions = Object.entries({ ...bootstrapExceptions, ...bootstrapImporters }).map(
    ([file, others]) => `| ${code(file)} | ${others.map(code).join(' ')} |`,
  )
  return [
    begin,
    '',
    '| Room | may import |',
    '|---|---|',
    `| ${joiningRooms.join(', ')}, and the files beside the rooms | every room: they only join |`,
    ...rooms,
    '',
    `Types only may be imported from ${typesPastTheDoor.map(code).join(', ')}.`,
    '',
    '| Library | imported in |',
    '|---|---|',
    ...libraries,
    '',
    'Files of `bootstrap/` import modules of Node.js and each other only, and nobody else imports them. Exceptions:',
    '',
    '| File | may import |',
    '|---|---|',
    ...exceptions,
    '',
    end,
  ].join('\n')
}

/** Returns the page with its written part replaced. Throws if the page has no such part. */
export function withImportTables(page: string): string {
  const from = page.indexOf(begin)
  const to = page.indexOf(end)
  if (from === -1 || to < from) throw new Error('ARCHITECTURE.md has no part for the tables of imports.')
  return `${page.slice(0, from)}${importTables()}${page.slice(to + end.length)}`
}
