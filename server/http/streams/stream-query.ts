import { Command, type Stream } from '@quayside/contract/streams.ts'
import { AppError } from '../../lib/error.ts'
import { bodyValidator, queryValidator } from '../validate.ts'

export interface StreamQuery {
  readonly query: Readonly<Record<string, string | number | undefined>>
  readonly command: readonly string[]
}

const validateCommand = bodyValidator(Command)

/**
 * Creates the reader of a stream's query, which its schema checks. `command=a&command=b` and
 * `command[0]=a&command[1]=b` are lists.
 */
export function streamQueryReader({ query, list }: Stream): (search: URLSearchParams) => StreamQuery {
  const validate = queryValidator(query)
  return (search) => {
    const command: string[] = []
    const single: Record<string, string> = {}
    for (const [name, value] of search) {
      if (list !== undefined && name.replace(/\[\d*\]$/, '') === list) command.push(value)
      else if (name in single) throw new AppError('invalid', `${name} must be given once.`)
      // Clients send an empty string for a missing value.
      else if (value !== '') single[name] = value
    }
    // The schemas guarantee these types.
    return {
      query: validate(single) as StreamQuery['query'],
      command: (validateCommand({ command }) as { command: string[] }).command,
    }
  }
}
