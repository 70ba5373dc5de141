import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../lib/error.ts'

/** A strong validator (RFC 9110): the same exactly where the reply is the same, byte for byte. */
export const etagOf = (text: string): string => `"${hash('sha256', text, 'base64url').slice(0, 27)}"`

/** Entity tags of If-Match or If-None-Match, or `*` for whatever is there. */
export type Tags = '*' | readonly string[]

const oneTag = /^(?:W\/)?"[\x21\x23-\x7e]*"$/

/** Undefined without the header; 400 where it is no list of entity tags. */
export function readTags(headers: IncomingHttpHeaders, name: 'if-match' | 'if-none-match'): Tags | undefined {
  const text = headers[name]
  if (text === undefined) return undefined
  if (text.trim() === '*') return '*'
  const tags = text.split(',').map((tag) => tag.trim())
  if (tags.every((tag) => oneTag.test(tag))) return tags
  const field = name === 'if-match' ? 'If-Match' : 'If-None-Match'
  throw new AppError('invalid', `${field} must be entity tags in double quotes, as ETag gave them, or *.`)
}

/** Of If-None-Match: a client has what would be answered. Proxies may have made a tag weak. */
export const hasCurrent = (tags: Tags, etag: string): boolean =>
  tags === '*' || tags.some((tag) => tag.replace(/^W\//, '') === etag)

/** Of If-Match: throws 412 where none of the tags is that of the present state. */
export function requireCurrent(tags: Tags, etag: string): void {
  if (tags === '*' || tags.includes(etag)) return
  throw new AppError(
    'preconditionFailed',
    'If-Match: it was changed since it was read. Read it again with GET, then send the change with the new ETag.',
  )
}
