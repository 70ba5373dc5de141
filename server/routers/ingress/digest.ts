import { createHash } from 'node:crypto'

/** Returns a part of a name that only this text has. */
export const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)
