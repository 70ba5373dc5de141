import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../lib/error.ts'

/** Returns a strong validator (RFC 9110): equal only if the replies are equal byte for byte. */
export const etagOf = (text: string): string => `"${hash('sha256', text, 'base64url').slice(0, 27)}"`

/** Entity tags of If-Match or If-None-Match; `*` matches every existing object. */
export type Tags = '*' | readonly string[]

const oneTag = /^(?:W\/)?"[\x21\x23-\x7e]*"$/

/** Reads entity tags. Undefined without the header; throws 400 if it is not a list of tags. */
export function readTags(headers: IncomingHttpHeaders, name: 'if-match' | 'if-none-match'): Tags | undefined {
  const text = headers[name]
  if (text === undefined) return undefined
  if (text.trim() === '*') return '*'
  const tags = text.split(',').map((tag) => tag.trim())
  if (tags.every((tag) => oneTag.test(tag))) return tags
  const field = name === 'if-match' ? 'If-Match' : 'If-None-Match'
  throw new AppError('invalid', `${field} must be * or entity tags in double quotes, as in the ETag header.`)
}

/** Whether If-None-Match has the current tag. Ignores weakness, which proxies may have added. */
export const hasCurrent = (tags: Tags, etag: string): boolean =>
  tags === '*' || tags.some((tag) => tag.replace(/^W\//, '') === etag)

/** Throws 412 if If-Match does not have the current tag. */
export function requireCurrent(tags: Tags, etag: string): void {
  if (tags === '*' || tags.includes(etag)) return
  throw new AppError(
    'preconditionFailed',
    'If-Match: the object changed since it was read. Read it again with GET, then send the change with the new ETag.',
  )
}
