import type { Figure } from './figure.ts'

/**
 * Returns the figures as a table, with the missed goals last. `failed` are the names of figures
 * that were not measured because of an error.
 */
export function table(figures: readonly Figure[], failed: readonly string[] = []): string {
  const rows = [
    ['figure', 'measured', 'floor', 'ratio', 'goal', ''],
    ...figures.map(({ name, value, unit, floor, ratio, goal, held }) => [
      name,
      `${shown(value)} ${unit}`,
      floor === null ? '' : `${shown(floor)} ${unit}`,
      ratio === null ? '' : `${ratio.toFixed(2)} ×`,
      goal,
      held ? 'held' : 'MISSED',
    ]),
    ...failed.map((name) => [name, '', '', '', '', 'ERROR']),
  ]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const missed = figures.filter(({ held }) => !held).map(({ name }) => name)
  const last = [
    ...(missed.length > 0 ? [`Missed: ${missed.join(', ')}.`] : []),
    ...(failed.length > 0 ? [`Not measured because of an error: ${failed.join(', ')}.`] : []),
  ]
  const all = figures.length > 0 ? 'All goals met.' : 'Nothing was measured.'
  return [...lines, '', last.join(' ') || all].join('\n')
}

/** Formats a number: whole from 100, with one decimal from 10, with two below. */
function shown(value: number): string {
  return value.toFixed(value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2)
}
