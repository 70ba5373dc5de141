import type { CommitInfo } from './git.ts'
import type { Tags } from './tags.ts'

/** The format of a commit for git. */
export const commitFormat = '--format=%H%n%ct%n%an%n%B'

/** Parses a commit. Texts are truncated, see CommitInfo. */
export function parseCommit(text: string, tags: Tags): CommitInfo {
  const [id = '', seconds = '', author = '', ...message] = text.split('\n')
  const createdAt = new Date(Number(seconds) * 1000)
  return {
    id,
    createdAt: Number.isNaN(createdAt.getTime()) ? new Date(0) : createdAt,
    authorName: printable(author, 200),
    tag: tags.get(id) ?? '',
    message: printable(message.join('\n').trim(), 1000),
  }
}

/** Truncates by whole characters and removes control characters other than line break and tab. */
const printable = (text: string, maxCharacters: number): string =>
  [...text.slice(0, maxCharacters * 2).replace(/[^\P{Cc}\n\t]/gu, '')].slice(0, maxCharacters).join('').toWellFormed()
