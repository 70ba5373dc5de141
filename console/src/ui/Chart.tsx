import { useEffect, useRef } from 'react'
import Plot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import styles from './Chart.module.css'

interface ChartProps {
  /** The content in words, for people who do not see it. */
  readonly label: string
  /** Seconds since 1970, oldest first. */
  readonly times: readonly number[]
  readonly values: readonly number[]
  /** The unit of the values. */
  readonly unit: string
}

const height = 160
/** The time that a chart shows at least. */
const leastSeconds = 60

/** A line over time. Its last value and its limit belong beside it as text. */
export function Chart({ label, times, values, unit }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null)
  const plot = useRef<Plot>(null)
  useEffect(() => {
    const { current: element } = frame
    if (!element) return undefined
    const made = new Plot(optionsOf(element, unit), [[], []], element)
    plot.current = made
    const observer = new ResizeObserver(([entry]) => made.setSize({ width: entry?.contentRect.width ?? 300, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
      plot.current = null
    }
  }, [unit])
  useEffect(() => {
    // One value makes no line, and the axis would repeat its time.
    if (times.length > 1) plot.current?.setData([[...times], [...values]])
  }, [times, values])
  return <div ref={frame} role="img" aria-label={label} className={styles['frame']} />
}

/** Pure: seconds since 1970 as the time of day of the reader, such as 22:57:30. */
const clockTime = (seconds: number): string => new Date(seconds * 1000).toLocaleTimeString('en-GB')

/** The chart has the colours that the page has when it is made. */
function optionsOf(element: HTMLElement, unit: string): Plot.Options {
  const { color: stroke, outlineColor: line, borderColor: grid } = getComputedStyle(element)
  const axis = { stroke, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } }
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { range: (_, least, greatest) => [Math.min(least ?? 0, (greatest ?? 0) - leastSeconds), greatest ?? 0] },
      y: { range: (_, __, greatest) => [0, Math.max(10, greatest * 1.2)] },
    },
    axes: [
      { ...axis, values: (_, ticks) => ticks.map((tick) => (tick > 0 ? clockTime(tick) : '')) },
      { ...axis, size: 72, values: (_, ticks) => ticks.map((tick) => `${tick} ${unit}`) },
    ],
    series: [{}, { stroke: line, width: 1.5, points: { show: false } }],
  }
}
