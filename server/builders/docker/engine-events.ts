/** One line of what the engine reports while it works; the fields that its API documents and that are looked at here. */
export interface EngineEvent {
  readonly id?: string
  readonly aux?: string | { readonly ID?: string }
  /** A failure is told only here: the status of the answer is 200 all the same. */
  readonly error?: string
}

/** The events of an answer, one JSON object a line, as they come. */
export async function* readEvents(answer: NodeJS.ReadableStream): AsyncGenerator<EngineEvent> {
  let pending = ''
  for await (const chunk of answer.setEncoding('utf8')) {
    const lines = (pending + chunk).split('\n')
    pending = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') yield parseEvent(line)
  }
  if (pending.trim() !== '') yield parseEvent(pending)
}

// The engine is trusted to keep to its API; fields are tested for their type where they are used.
const parseEvent = (line: string): EngineEvent => JSON.parse(line) as EngineEvent
