import { useMutation } from '@tanstack/react-query'
import { queries } from './client.ts'
import { recordRequests } from './record-requests.ts'

interface ChangeOptions<Input, Output> {
  readonly change: (input: Input) => Promise<Output>
  /** The beginning of the keys of all reads that the change makes old. */
  readonly makesOld: readonly string[]
  /** Called after these reads were made again. */
  readonly onDone?: (output: Output) => void
}

/** A change that a person makes. The pages show its result when it is done. */
export function useChange<Input = void, Output = unknown>(options: ChangeOptions<Input, Output>) {
  const mutation = useMutation<Output, Error, Input>({
    mutationFn: options.change,
    onSuccess: async (output) => {
      await queries.invalidateQueries({ queryKey: options.makesOld })
      options.onDone?.(output)
    },
  })
  /** Returns the requests that it would send. */
  const preview = (input: Input) => recordRequests(() => options.change(input))
  return { ...mutation, preview }
}
