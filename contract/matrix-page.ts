import { filled } from './services/kind-operations.ts'
import { kindNames } from './services/kinds.ts'
import { columns, type Matrix, matrix, type Row } from './services/matrix.ts'

/** The numbers of the reasons on the page, in the order of their first cell. */
function numbersOf(rows: readonly Row[]): Map<string, number> {
  const reasons = new Set(rows.flat().filter((cell) => typeof cell === 'string'))
  return new Map([...reasons].map((reason, index) => [reason, index + 1]))
}

/** Returns the page with the operations of every kind of service. */
export function matrixPage(cells: Matrix = matrix): string {
  const rows = Object.values(cells).flatMap((section) => Object.entries<Row>(section))
  const numbers = numbersOf(rows.map(([, row]) => row))
  const line = ([template, row]: readonly [string, Row]): string => {
    const marks = kindNames.map((kind) => {
      const cell = row[columns[kind]]
      return cell === true ? `\`${filled(template, kind)}\`` : String(numbers.get(cell))
    })
    return `| ${marks.join(' | ')} |`
  }
  return [
    '# Kinds of services and their operations',
    '',
    'Written by `npm run emit` from `contract/services/matrix.ts`. A row is an operation, a column a kind of ' +
      'service, and a number the reason why',
    'the kind does not have the operation. A job is a cron job or a lifecycle job. Streams of logs, metrics ' +
      'and shells do not distinguish kinds.',
    '',
    `| ${kindNames.join(' | ')} |`,
    `|${'---|'.repeat(kindNames.length)}`,
    ...rows.map(line),
    '',
    ...[...numbers].map(([reason, number]) => `${number}. ${reason}`),
    '',
  ].join('\n')
}
