import { linesOf } from '../../lib/lines-of.ts'

/**
 * One line of what the engine reports while it works; the fields that its API documents and that
 * are looked at here.
 */
export interface EngineEvent {
  readonly id?: string
  readonly aux?: string | { readonly ID?: string }
  /** A failure is told only here: the status of the answer is 200 all the same. */
  readonly error?: string
}

/** The events of an answer, one JSON object a line, as they come. */
export async function* readEvents(answer: NodeJS.ReadableStream): AsyncGenerator<EngineEvent> {
  // Text, once an encoding is set.
  const text = answer.setEncoding('utf8') as AsyncIterable<string>
  for await (const line of linesOf(text)) if (line.trim() !== '') yield parseEvent(line)
}

// The engine is trusted to keep to its API; fields are tested for their type where they are used.
const parseEvent = (line: string): EngineEvent => JSON.parse(line) as EngineEvent
