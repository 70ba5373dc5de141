import { useEffect, useState } from 'react'
import { followLines, type ServicePlace } from '../api/follow-lines.ts'
import { type LineLink, lineName } from '../api/line-link.ts'
import { type Line, LineStore } from '../api/line-store.ts'

/** The lines after a linked one that are shown, too. */
const afterLinkMs = 500

interface Wish {
  readonly text?: string
  readonly deployment?: string
  /** A line. The lines before it are shown, and no new ones. */
  readonly link?: LineLink | undefined
  /** Called when it was found. */
  readonly onLinked?: (line: Line) => void
}

/** Follows the lines of a service as long as the component is there. */
export function useLines(place: ServicePlace, { text, deployment, link, onLinked }: Wish) {
  const [store] = useState(() => new LineStore((work) => void requestAnimationFrame(work)))
  const [problem, setProblem] = useState<string>()
  const { organization, cluster, project, environment, service } = place
  // biome-ignore lint/correctness/useExhaustiveDependencies: the callback of the first link is enough
  useEffect(() => {
    store.clear()
    setProblem(undefined)
    return followLines(store, {
      place: { organization, cluster, project, environment, service },
      text,
      deployment,
      until: link && link.at + afterLinkMs,
      onEnd: (reason) => {
        if (reason !== '') return setProblem(reason)
        store.hold()
        const line = link && findLine(store, link)
        if (line) onLinked?.(line)
        else if (link) setProblem('This line is no longer stored. The oldest lines of a service are deleted.')
      },
    })
  }, [store, organization, cluster, project, environment, service, text, deployment, link])
  return [store, problem] as const
}

function findLine({ lines }: LineStore, { at, mark }: LineLink): Line | undefined {
  for (let index = lines.length - 1; index >= 0; index--) {
    const line = lines.at(index)
    if (line?.at === at && lineName(line) === `${at}-${mark}`) return line
  }
  return undefined
}
