import { isUtf8 } from 'node:buffer'
import { AppError } from '../lib/error.ts'

const maxDepth = 32

/**
 * Reads a strict subset of JSON (RFC 8259): no duplicate keys, no `__proto__` or `prototype`, no
 * U+0000, no lone surrogates, valid UTF-8, at most 32 levels. Throws AppError('invalid') with the
 * problem and its place.
 */
export function parseStrictJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new AppError('invalid', 'The body is not valid UTF-8.')
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
  checkStructure(text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new AppError('invalid', 'The body is not valid JSON.', { cause: error })
  }
  return value
}

/**
 * Checks depth, duplicate keys, forbidden keys and characters in one pass. JSON.parse checks the
 * syntax.
 */
function checkStructure(text: string): void {
  const open: (Set<string> | undefined)[] = []
  let position = 0
  while (position < text.length) {
    const character = text[position]
    if (character === '"') {
      const end = endOfString(text, position)
      const value = checkString(text.slice(position, end))
      const keys = open.at(-1)
      if (keys && isKey(text, end)) checkKey(value, keys)
      position = end
      continue
    }
    if (character === '{' || character === '[') {
      open.push(character === '{' ? new Set() : undefined)
      if (open.length > maxDepth)
        throw new AppError('invalid', `The body is nested too deep: at most ${maxDepth} levels.`)
    } else if (character === '}' || character === ']') open.pop()
    position++
  }
}

function endOfString(text: string, start: number): number {
  for (let position = start + 1; position < text.length; position++) {
    if (text[position] === '\\') position++
    else if (text[position] === '"') return position + 1
  }
  throw new AppError('invalid', 'The body is not valid JSON: a string does not end.')
}

function isKey(text: string, end: number): boolean {
  let position = end
  while (/\s/.test(text[position] ?? '')) position++
  return text[position] === ':'
}

function checkString(literal: string): string {
  const value = literal.includes('\\') ? decode(literal) : literal.slice(1, -1)
  if (value.includes('\0')) throw new AppError('invalid', 'The body must not hold the character U+0000.')
  if (!value.isWellFormed()) throw new AppError('invalid', 'The body must not hold half a surrogate pair.')
  return value
}

function decode(literal: string): string {
  try {
    const value: unknown = JSON.parse(literal)
    return typeof value === 'string' ? value : ''
  } catch (error) {
    throw new AppError('invalid', 'The body is not valid JSON.', { cause: error })
  }
}

function checkKey(key: string, keys: Set<string>): void {
  if (key === '__proto__' || key === 'prototype')
    throw new AppError('invalid', `The body must not hold the key "${key}".`)
  if (keys.has(key)) throw new AppError('invalid', `The body holds the key "${key.slice(0, 100)}" twice.`)
  keys.add(key)
}
