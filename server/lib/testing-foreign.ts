import { ForeignJsonProblem, type ForeignReader, foreignTask, parseFar } from './foreign-json.ts'

/** Runs in a worker if its text is long. */
export const lengthTask = foreignTask((json: Uint8Array, fails: string | undefined): number => {
  if (fails === 'never ends') for (;;);
  if (fails !== undefined) throw new ForeignJsonProblem(fails)
  const value = parseFar(json)
  return Array.isArray(value) ? value.length : 0
})

/** Returns the length of a list, or fails as its argument says. */
export const lengthReader: ForeignReader<string | undefined, number> = {
  module: new URL(import.meta.url),
  name: 'lengthTask',
  task: lengthTask,
}
