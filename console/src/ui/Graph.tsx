import '@xyflow/react/dist/base.css'
import {
  Background,
  Controls,
  type Edge,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  type ReactFlowInstance,
} from '@xyflow/react'
import { type ComponentType, type KeyboardEvent, memo, useEffect, useMemo, useRef, useState } from 'react'
import styles from './Graph.module.css'
import { type GraphBox, type GraphLine, sidesOf, stepFrom } from './graph-steps.ts'

interface GraphProps<T> {
  readonly label: string
  readonly boxes: readonly (GraphBox & { readonly data: T })[]
  readonly lines: readonly GraphLine[]
  /** Draws a box. Its link gets the focus when somebody moves to the box with arrow keys. */
  readonly Content: ComponentType<{ readonly data: T }>
}

/** Below this size nothing is readable. A larger graph begins at its first box instead. */
const leastZoom = 0.55
const start = { x: 24, y: 24, zoom: 0.8 }

/**
 * Boxes and the lines between them. It is moved by dragging, scrolling and arrow keys. Only the
 * visible part is drawn, so that hundreds of boxes stay smooth.
 */
export function Graph<T>({ label, boxes, lines, Content }: GraphProps<T>) {
  const flow = useRef<ReactFlowInstance<BoxNode, Edge>>(undefined)
  const [current, setCurrent] = useState<string>()
  const [pointed, setPointed] = useState<string>()
  const nodes = useMemo(
    () => boxes.map((box) => nodeOf(box, Content as ComponentType<{ readonly data: unknown }>, box.id === current)),
    [boxes, Content, current],
  )
  const edges = useMemo(() => edgesOf(boxes, lines, pointed ?? current), [boxes, lines, pointed, current])
  const move = (event: KeyboardEvent): void => {
    const next = stepFrom(
      boxes,
      boxes.find(({ id }) => id === current),
      event.key,
    )
    if (!next) return
    event.preventDefault()
    setCurrent(next.id)
    const zoom = Math.max(flow.current?.getZoom() ?? 1, leastZoom)
    void flow.current?.setCenter(next.x + next.width / 2, next.y + next.height / 2, { zoom })
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move inside it
    <section className={styles['graph']} aria-label={label} tabIndex={0} onKeyDown={move}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        onInit={(instance) => {
          flow.current = instance
          void instance.fitView({ maxZoom: 1 }).then(() => {
            if (instance.getZoom() < leastZoom) void instance.setViewport(start)
          })
        }}
        onNodeMouseEnter={(_, { id }) => setPointed(id)}
        onNodeMouseLeave={() => setPointed(undefined)}
        minZoom={0.1}
        maxZoom={1.5}
        panOnScroll
        zoomOnDoubleClick={false}
        onlyRenderVisibleElements
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        defaultMarkerColor={null}
      >
        <Background gap={24} />
        <Controls showInteractive={false} />
      </ReactFlow>
    </section>
  )
}

interface BoxData extends Record<string, unknown> {
  readonly data: unknown
  readonly Content: ComponentType<{ readonly data: unknown }>
  readonly isCurrent: boolean
}
type BoxNode = Node<BoxData, 'box'>

const sides = ['left', 'right'] as const
const roles = ['source', 'target'] as const
const places = { left: Position.Left, right: Position.Right } as const
const ends = roles.flatMap((type) => sides.map((side) => ({ type, side, id: `${type} ${side}` })))

/** The places of lines are known before a box is drawn, so that lines to hidden boxes are, too. */
function nodeOf(
  { id, x, y, width, height, isHeading, data }: GraphBox & { readonly data: unknown },
  Content: BoxData['Content'],
  isCurrent: boolean,
): BoxNode {
  const handles = ends.map(({ type, side, id: end }) => ({
    id: end,
    type,
    position: places[side],
    x: side === 'left' ? 0 : width,
    y: height / 2,
    width: 1,
    height: 1,
  }))
  const shared = { id, type: 'box', position: { x, y }, width, height } as const
  return { ...shared, data: { data, Content, isCurrent }, ...(!isHeading && { handles }) }
}

function edgesOf(boxes: readonly GraphBox[], lines: readonly GraphLine[], near: string | undefined): Edge[] {
  const byId = new Map(boxes.map((box) => [box.id, box]))
  return lines.flatMap(({ from, to, label }) => {
    const [source, target] = [byId.get(from), byId.get(to)]
    if (!source || !target) return []
    const at = sidesOf(source, target)
    const isNear = from === near || to === near
    return {
      id: `${from} ${to}`,
      // A curve between two points above each other would be a straight line through the boxes.
      ...(at.source === at.target && { type: 'smoothstep' }),
      source: from,
      target: to,
      sourceHandle: `source ${at.source}`,
      targetHandle: `target ${at.target}`,
      markerEnd: { type: MarkerType.ArrowClosed, width: 18, height: 18 },
      className: (isNear && styles['near']) || '',
      zIndex: isNear ? 1 : 0,
      ...(isNear && { label }),
    }
  })
}

const Box = memo(({ data: { data, Content, isCurrent } }: NodeProps<BoxNode>) => {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isCurrent) place.current?.querySelector('a')?.focus({ preventScroll: true })
  }, [isCurrent])
  return (
    <div ref={place} className={styles['box']}>
      {ends.map(({ type, side, id }) => (
        <Handle key={id} id={id} type={type} position={places[side]} className={styles['end']} isConnectable={false} />
      ))}
      <Content data={data} />
    </div>
  )
})
Box.displayName = 'Box'

const nodeTypes = { box: Box }
