import { Command, type Stream } from '@quayside/contract/streams.ts'
import { AppError } from '../../lib/error.ts'
import { bodyValidator, queryValidator } from '../validate.ts'

export interface StreamQuery {
  readonly query: Readonly<Record<string, string | number | undefined>>
  readonly command: readonly string[]
}

const validateCommand = bodyValidator(Command)

/**
 * How the query of a stream is read: checked by its schema; `command=a&command=b`, or
 * `command[0]=a&command[1]=b`, is a list.
 */
export function streamQueryReader({ query, list }: Stream): (search: URLSearchParams) => StreamQuery {
  const validate = queryValidator(query)
  return (search) => {
    const command: string[] = []
    const single: Record<string, string> = {}
    for (const [name, value] of search) {
      if (list !== undefined && name.replace(/\[\d*\]$/, '') === list) command.push(value)
      else if (name in single) throw new AppError('invalid', `${name} must be given once.`)
      // Clients send what they have no value for as an empty text.
      else if (value !== '') single[name] = value
    }
    // Both schemas say so.
    return {
      query: validate(single) as StreamQuery['query'],
      command: (validateCommand({ command }) as { command: string[] }).command,
    }
  }
}
