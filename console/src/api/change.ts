import { useMutation } from '@tanstack/react-query'
import type { RecordedRequest } from './as-curl.ts'
import { queries } from './client.ts'
import { sendOrShow } from './next-change.ts'
import { recordEach, recordRequests, sendInOrder, type Work } from './record-requests.ts'

interface ChangeOptions<Input, Output> {
  readonly change: (input: Input) => Promise<Output>
  /** The beginning of the keys of all reads that the change makes old. None if events report it. */
  readonly makesOld?: readonly string[]
  /** Called after these reads were made again. */
  readonly onDone?: (output: Output) => void
}

interface RequestsOptions<Input> {
  /** Requests that do not need each other's answers. They are sent in order, until one fails. */
  readonly requests: (input: Input) => readonly Work[]
  /** Texts that a preview hides. */
  readonly secrets?: readonly string[]
  /** The beginnings of the keys of the reads that they make old. */
  readonly changes?: readonly (readonly string[])[]
  readonly onDone?: () => void
}

/** `Input` alone decides the arguments of a mutation, which the library's type does not say. */
type Send<Input> = (input: Input) => void

/** A change that a person makes. The pages show its result when it is done. */
export function useChange<Input = void, Output = unknown>(options: ChangeOptions<Input, Output>) {
  const { change, makesOld, onDone } = options
  const mutation = useMutation<Output, Error, Input>({
    mutationFn: change,
    onSuccess: async (output) => {
      if (makesOld) await queries.invalidateQueries({ queryKey: makesOld })
      onDone?.(output)
    },
  })
  return {
    ...mutation,
    ...previewed<Input>(mutation.mutate as Send<Input>, (input) => recordRequests(() => change(input))),
  }
}

/** A change of several requests. If one fails, the pages show the effect of the ones before it. */
export function useRequests<Input = void>({ requests, secrets = [], changes = [], onDone }: RequestsOptions<Input>) {
  const mutation = useMutation<void, Error, Input>({
    mutationFn: (input) => sendInOrder(requests(input)),
    onSettled: () => Promise.all(changes.map((queryKey) => queries.invalidateQueries({ queryKey }))),
    onSuccess: () => onDone?.(),
  })
  const preview = async (input: Input) => withSecrets(await recordEach(requests(input)), secrets)
  return { ...mutation, ...previewed<Input>(mutation.mutate as Send<Input>, preview) }
}

/** Pure: requests with the texts that a preview hides. */
export const withSecrets = (requests: readonly RecordedRequest[], secrets: readonly string[]): RecordedRequest[] =>
  requests.map((request) => ({ ...request, secrets }))

/** The preview of a change, and a `mutate` that shows it if the person asked for that. */
const previewed = <Input>(send: Send<Input>, preview: (input: Input) => Promise<readonly RecordedRequest[]>) => ({
  /** Returns the requests that it would send. */
  preview,
  mutate: (input: Input): void =>
    sendOrShow(
      () => send(input),
      () => preview(input),
    ),
})
