import type { LineSink } from '../lib/attempt.ts'
import { type LineSplitter, splitLines } from './build-log.ts'
import type { BuildStatus, Vertex } from './trace.ts'

const lastLinesKept = 20
/** A builder in a cluster may belong to somebody who wants the memory of the server. */
const mostSteps = 5000
const longestDigest = 200
const longestName = 16 * 1024

/** Turns BuildKit's reports into log lines, and remembers what explains a failure. */
export interface BuildProgress {
  report(status: BuildStatus): void
  /** Writes the unfinished lines. Call it when the build has ended. */
  end(): void
  /** Returns the failed step with the last lines of its output. */
  failedStep(): FailedStep | undefined
}

export interface FailedStep {
  readonly name: string
  readonly lastLines: readonly string[]
}

interface Step {
  readonly name: string
  readonly lastLines: string[]
  readonly streams: Map<number, LineSplitter>
  announced: boolean
  ended: boolean
}

export function followProgress(output: LineSink): BuildProgress {
  const steps = new Map<string, Step>()
  let failed: Step | undefined
  const endStep = (step: Step): void => {
    step.ended = true
    for (const splitter of step.streams.values()) splitter.end()
  }
  const reportVertex = (vertex: Vertex): void => {
    if (vertex.digest.length > longestDigest || (steps.size >= mostSteps && !steps.has(vertex.digest))) return
    const step = steps.get(vertex.digest) ?? newStep(vertex.name.slice(0, longestName))
    steps.set(vertex.digest, step)
    if (vertex.started && !step.announced && !isInternal(vertex.name)) {
      step.announced = true
      output.line(vertex.cached ? `${step.name} (unchanged, reused)` : step.name)
    }
    // BuildKit reports steps that it stopped because another failed as canceled. The other one is
    // the cause.
    if (vertex.error && (!failed || failed === step || /context canceled/.test(vertex.error) === false)) failed = step
    if (vertex.completed && !step.ended) endStep(step)
  }
  return {
    report({ vertices, logs }) {
      const completed = vertices.filter((vertex) => vertex.completed)
      for (const vertex of vertices) if (!vertex.completed) reportVertex(vertex)
      for (const log of logs) streamOf(steps, log.vertex, log.stream, output)?.write(log.text)
      for (const vertex of completed) reportVertex(vertex)
    },
    end() {
      for (const step of steps.values()) endStep(step)
    },
    failedStep: () => failed && { name: failed.name, lastLines: failed.lastLines },
  }
}

const newStep = (name: string): Step => ({
  name,
  lastLines: [],
  streams: new Map(),
  announced: false,
  ended: false,
})

/** Whether a step is internal, such as loading the context. */
const isInternal = (name: string): boolean =>
  /^\[(?:internal|context .*)\]|^exporting to oci |^copy \/context \/$/.test(name)

function streamOf(
  steps: ReadonlyMap<string, Step>,
  digest: string,
  stream: number,
  output: LineSink,
): LineSplitter | undefined {
  const step = steps.get(digest)
  if (!step) return undefined
  const known = step.streams.get(stream)
  if (known) return known
  const splitter = splitLines((line) => {
    step.lastLines.push(line)
    if (step.lastLines.length > lastLinesKept) step.lastLines.shift()
    output.line(line)
  })
  step.streams.set(stream, splitter)
  return splitter
}
