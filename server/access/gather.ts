interface Open<Question, Answer> {
  readonly question: Question
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/** A larger statement would delay the first callers. */
const most = 100

/**
 * Collects the questions of one turn of the event loop and answers them together, in order. An
 * error goes to all callers. It only waits for the end of the turn, so a single question is asked
 * alone.
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
      // There is one answer for each question.
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
