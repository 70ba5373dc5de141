import { parseForeign } from '../../lib/foreign-json.ts'
import { linesOf } from '../../lib/lines-of.ts'

/** One line of the engine's progress. Only the fields that are used here. */
export interface EngineEvent {
  readonly id?: string
  readonly aux?: string | { readonly ID?: string }
  /** The error. The HTTP status is 200 even if the build fails. */
  readonly error?: string
}

/** Yields the events of an answer, one JSON object a line, as they arrive. */
export async function* readEvents(answer: NodeJS.ReadableStream): AsyncGenerator<EngineEvent> {
  // Chunks are strings once an encoding is set.
  const text = answer.setEncoding('utf8') as AsyncIterable<string>
  for await (const line of linesOf(text)) if (line.trim() !== '') yield parseEvent(line)
}

/** A line has a part of an output or of a graph in base64, so it has few values. */
const longestLine = 32 * 2 ** 20

// The engine is trusted to keep to its API. The type of a field is checked before its use.
const parseEvent = (line: string): EngineEvent => parseForeign(Buffer.from(line), { bytes: longestLine }) as EngineEvent
