import type { ServiceRow, StageRow } from '../api/stage-rows.ts'
import type { GraphBox, GraphLine } from '../ui/graph-steps.ts'

/** A box of the map: a service, or the heading of a stage. */
export type MapBox = GraphBox & { readonly data: ServiceRow | { readonly heading: string } }

interface Link {
  readonly service_id: string | null
  readonly refers_to_id: string
  readonly keys: readonly string[]
}

export const boxWidth = 216
const boxHeight = 64
const headingHeight = 28
const rowGap = 20
/** Between the columns of a stage. */
const columnGap = 36
/** Between stages, where most lines run. */
const stageGap = 96
const fewestRows = 6

/** Pure: the number of rows, so that a stage of any size stays about as wide as it is high. */
const rowsOf = (count: number): number => Math.max(fewestRows, Math.ceil(Math.sqrt(count * 2.5)))

/**
 * Pure: places each stage as a column from left to right, in the order of deployments. A long stage
 * has several columns. Links to services that are not in a stage are left out.
 */
export function mapLayout(
  stages: readonly StageRow[],
  links: readonly Link[],
): { readonly boxes: readonly MapBox[]; readonly lines: readonly GraphLine[] } {
  const boxes: MapBox[] = []
  let left = 0
  for (const { id, name, services } of stages) {
    const rows = rowsOf(services.length)
    const columns = Math.ceil(services.length / rows)
    const width = columns * boxWidth + (columns - 1) * columnGap
    boxes.push({ id, x: left, y: 0, width, height: headingHeight, isHeading: true, data: { heading: name } })
    for (const [index, service] of services.entries()) {
      const x = left + Math.floor(index / rows) * (boxWidth + columnGap)
      const y = headingHeight + rowGap + (index % rows) * (boxHeight + rowGap)
      boxes.push({ id: service.id, x, y, width: boxWidth, height: boxHeight, isHeading: false, data: service })
    }
    left += width + stageGap
  }
  return { boxes, lines: linesOf(links, new Set(boxes.map(({ id }) => id))) }
}

const linesOf = (links: readonly Link[], known: ReadonlySet<string>): GraphLine[] =>
  links.flatMap(({ service_id: from, refers_to_id: to, keys }) =>
    from !== null && known.has(from) && known.has(to) ? [{ from, to, label: keys.join(', ') }] : [],
  )
