import type { IncomingMessage } from 'node:http'
import { AppError } from '../lib/error.ts'

const mostBytes = 8192

/** Reads the fields of a form. Throws 400, 413 or 415 if the body is not a form. */
export async function readForm(request: IncomingMessage): Promise<Partial<Record<string, string>>> {
  const type = request.headers['content-type'] ?? ''
  if (!/^application\/x-www-form-urlencoded(?:;|$)/i.test(type)) {
    throw new AppError('unsupportedMediaType', 'A form must be sent as application/x-www-form-urlencoded.')
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > mostBytes) throw new AppError('tooLarge', `The form is larger than ${mostBytes} bytes.`)
    chunks.push(chunk)
  }
  return Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString('utf8')))
}
