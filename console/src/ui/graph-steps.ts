/** A box at a place of a graph, in pixels at the natural size. */
export interface GraphBox {
  readonly id: string
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  /** Headings are not reached by the keyboard. */
  readonly isHeading: boolean
}

/** A directed line between two boxes. */
export interface GraphLine {
  readonly from: string
  readonly to: string
  readonly label: string
}

const directions = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
} as const

/** Boxes beside the way count as farther, so that a column is left only on purpose. */
const beside = 3

/**
 * Pure: the nearest box in the direction of an arrow key. The first one if there is no current box.
 * Undefined for other keys, and at the border.
 */
export function stepFrom<B extends GraphBox>(boxes: readonly B[], current: B | undefined, key: string): B | undefined {
  const direction = Object.hasOwn(directions, key) ? directions[key as keyof typeof directions] : undefined
  if (!direction) return undefined
  const reachable = boxes.filter(({ isHeading }) => !isHeading)
  if (!current) return reachable[0]
  let nearest: B | undefined
  let least = Number.POSITIVE_INFINITY
  for (const box of reachable) {
    const [dx, dy] = [box.x - current.x, box.y - current.y]
    const along = dx * direction.x + dy * direction.y
    const across = Math.abs(dx * direction.y) + Math.abs(dy * direction.x)
    const distance = along + across * beside
    if (along <= 0 || distance >= least) continue
    least = distance
    nearest = box
  }
  return nearest
}

/**
 * Pure: the sides at which a line leaves and enters. Within a column it runs along the right side.
 */
export function sidesOf(from: GraphBox, to: GraphBox): { readonly source: Side; readonly target: Side } {
  if (to.x > from.x) return { source: 'right', target: 'left' }
  return to.x < from.x ? { source: 'left', target: 'right' } : { source: 'right', target: 'right' }
}
type Side = 'left' | 'right'
