const mostSteps = 20
/** Twenty numbers of three digits, each with a comma and two spaces. */
const longestSteps = 120

/**
 * Reads the steps of a canary deployment, such as `5,25,50`: the percentages of requests that the
 * new version gets, one after the other. An empty string has none. Throws an Error with the reason
 * for steps that cannot be followed.
 */
export function readCanarySteps(value: string): readonly number[] {
  if (value.length > longestSteps) throw new Error(`at most ${mostSteps} steps are possible`)
  if (value.trim() === '') return []
  const steps = value.split(',').map((part) => percentIn(part.trim()))
  if (steps.length > mostSteps) throw new Error(`at most ${mostSteps} steps are possible`)
  const late = steps.find((step, index) => index > 0 && step <= (steps[index - 1] ?? 0))
  if (late !== undefined) throw new Error(`the step ${late} is not larger than the step before it`)
  return steps
}

function percentIn(part: string): number {
  const percent = /^[0-9]{1,3}$/.test(part) ? Number(part) : 0
  if (percent < 1 || percent > 100) {
    throw new Error(`"${part}" is not a percentage from 1 to 100; steps have the form 5,25,50`)
  }
  return percent
}
