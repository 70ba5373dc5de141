interface Open<Question, Answer> {
  readonly question: Question
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/** A statement for more would keep those waiting that came first. */
const most = 100

/**
 * Collects the questions of one turn of the event loop and has them answered together, in their order. An error is everybody's.
 * Waits for nothing but the end of the turn: a question that comes alone is asked alone.
 */
export function gather<Question, Answer>(
  answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
): (question: Question) => Promise<Answer> {
  let open: Open<Question, Answer>[] = []
  const ask = (): void => {
    const asked = open
    open = []
    if (asked.length === 0) return
    answerAll(asked.map(({ question }) => question)).then(
      // As many answers as there were questions.
      (answers) => asked.forEach(({ resolve }, index) => void resolve(answers[index] as Answer)),
      (error: unknown) => asked.forEach(({ reject }) => void reject(error)),
    )
  }
  return (question) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    if (open.push({ question, resolve, reject }) === 1) setImmediate(ask)
    else if (open.length === most) ask()
    return promise
  }
}
