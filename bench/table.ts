import type { Figure } from './figure.ts'

/** Figures as people read them, with what missed its goal said last. */
export function table(figures: readonly Figure[]): string {
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
  ]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const missed = figures.filter(({ held }) => !held).map(({ name }) => name)
  const last = missed.length === 0 ? 'Every goal was held.' : `Missed: ${missed.join(', ')}.`
  return [...lines, '', last].join('\n')
}

/** Whole from 100 on, else with one digit after the point, below ten with two. */
function shown(value: number): string {
  return value.toFixed(value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2)
}
