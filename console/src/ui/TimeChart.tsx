import { useEffect, useRef, useState } from 'react'
import Plot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import styles from './TimeChart.module.css'

interface Line {
  readonly name: string
  readonly values: readonly (number | null)[]
}

interface TimeChartProps {
  readonly title: string
  /** Seconds since 1970, oldest first. */
  readonly times: readonly number[]
  /** At most three lines. The order decides their colours. */
  readonly lines: readonly Line[]
  /** Writes a value with its unit. */
  readonly format: (value: number) => string
  /** Has the first line in the colour of failures. */
  readonly isBad?: boolean
  /** Whether the values are bytes. */
  readonly isBinary?: boolean
}

const height = 170
/**
 * Distances of the marks of an axis: powers of two, tens and their halves are round in any unit.
 */
const distances = (isBinary: boolean): number[] =>
  isBinary
    ? Array.from({ length: 50 }, (_, power) => 2 ** power)
    : Array.from({ length: 15 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** (power - 4))).flat()

/** Lines over time. The values beside their names are those under the pointer, or the last ones. */
export function TimeChart({ title, times, lines, format, isBad = false, isBinary = false }: TimeChartProps) {
  const frame = useRef<HTMLDivElement>(null)
  const legend = useRef<HTMLUListElement>(null)
  const plot = useRef<Plot>(null)
  const [pointed, setPointed] = useState<number | null>(null)
  const names = lines.map(({ name }) => name).join()
  useEffect(() => {
    const { current: element } = frame
    if (!element) return undefined
    const made = new Plot(
      optionsOf(element, legend.current, { format, isBinary, setPointed }),
      [[], ...names.split(',').map(() => [])],
      element,
    )
    plot.current = made
    const observer = new ResizeObserver(([entry]) => made.setSize({ width: entry?.contentRect.width ?? 300, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
      plot.current = null
    }
  }, [format, isBinary, names])
  useEffect(() => {
    plot.current?.setData([[...times], ...lines.map(({ values }) => [...values])])
  }, [times, lines])
  const last = pointed !== null && pointed < times.length ? pointed : times.length - 1
  return (
    <figure className={styles['figure']} data-bad={isBad}>
      <figcaption className={styles['caption']}>
        <strong>{title}</strong>
        <time className={styles['time']}>{pointed === null ? '' : momentOf(times[last])}</time>
      </figcaption>
      <ul ref={legend} className={styles['legend']}>
        {lines.map(({ name, values }) => (
          <li key={name}>
            <span className={styles['mark']} />
            {name} <b>{wordsOf(values[last], format)}</b>
          </li>
        ))}
      </ul>
      <div ref={frame} role="img" aria-label={labelOf(title, lines, format)} className={styles['frame']} />
    </figure>
  )
}

const wordsOf = (value: number | null | undefined, format: (value: number) => string): string =>
  value === null || value === undefined ? '–' : format(value)

/** Pure: the highest value of each line, for people who do not see them. */
function labelOf(title: string, lines: readonly Line[], format: (value: number) => string): string {
  const parts = lines.map(
    ({ name, values }) => `${name} at most ${format(Math.max(0, ...values.map((one) => one ?? 0)))}`,
  )
  return `${title} over time: ${parts.join(', ')}.`
}

const momentOf = (seconds = 0): string =>
  new Date(seconds * 1000).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })

interface Reading {
  readonly isBinary: boolean
  readonly format: (value: number) => string
  readonly setPointed: (index: number | null) => void
}

/** The chart has the colours that the page has when it is made. A line has that of its mark. */
function optionsOf(
  element: HTMLElement,
  legend: HTMLElement | null,
  { format, isBinary, setPointed }: Reading,
): Plot.Options {
  const { color: stroke, borderColor: grid } = getComputedStyle(element)
  const colours = [...(legend?.querySelectorAll('span') ?? [])].map((mark) => getComputedStyle(mark).backgroundColor)
  const axis = { stroke, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } }
  return {
    width: element.clientWidth,
    height,
    padding: [10, 12, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    hooks: { setCursor: [({ cursor }) => setPointed(cursor.idx ?? null)] },
    scales: { y: { range: (_, __, greatest) => [0, greatest > 0 ? greatest * 1.15 : 1] } },
    axes: [
      { ...axis, size: 30, space: 70, values: timesOf },
      { ...axis, size: 84, space: 36, incrs: distances(isBinary), values: (_, ticks) => ticks.map(format) },
    ],
    series: [
      {},
      ...colours.map((colour, index) => ({
        stroke: colour,
        width: 1.5,
        points: { show: false },
        ...(index === 0 && { fill: colour.replace('rgb(', 'rgba(').replace(')', ', 0.08)') }),
      })),
    ],
  }
}

/** Times of day for a range of a day and less, otherwise days. */
const timesOf = (_: Plot, ticks: number[]): string[] => {
  const isShort = (ticks.at(-1) ?? 0) - (ticks[0] ?? 0) <= 86_400
  return ticks.map((tick) => {
    const moment = new Date(tick * 1000)
    const time = moment.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
    return isShort ? time : moment.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
  })
}
