/**
 * Whether the text is a valid name of a branch. Stricter than git: nothing that could be a shell
 * command, a ref pattern or an option.
 */
export const isBranchName = (text: string): boolean =>
  /^[A-Za-z0-9][A-Za-z0-9._/+@#-]{0,243}$/.test(text) &&
  text.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock')) &&
  !text.includes('..') &&
  !text.endsWith('.')

/** A full or abbreviated commit id, in lower case. */
export const isCommitId = (text: string): boolean => /^[0-9a-f]{7,64}$/.test(text)

/** The rule of `isRepositoryName`, for people. */
export const repositoryNameRule =
  'The name of a repository has 1 to 100 characters: lower-case letters, digits, ".", "_" and "-". It begins with a ' +
  'letter or a digit, has no "..", and does not end with ".", ".git" or ".lock".'

/** The name of a repository of the built-in git host, without `.git`. */
export const isRepositoryName = (text: string): boolean =>
  /^[a-z0-9][a-z0-9._-]{0,99}$/.test(text) &&
  !text.includes('..') &&
  !text.endsWith('.') &&
  !/\.(?:lock|git)$/.test(text)

/**
 * Returns a path inside a tree as `a/b`, and '' for the top (also written `.` or `/`). Undefined if
 * the text leaves the tree, is absolute, or could be an option, an escape or git's own directory.
 */
export function treePath(text: string): string | undefined {
  if (text === '/') return ''
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are rejected
  if (text.length > 4096 || text.startsWith('/') || /[\u0000-\u001f\u007f\\]|%(?:2e|2f|5c|00)/i.test(text))
    return undefined
  const parts = text.split('/').filter((part) => part !== '' && part !== '.')
  const isSafe = parts.every(
    (part) => part !== '..' && !part.startsWith('-') && part.length <= 255 && !/^\.git(?:$|[.\s:~])/i.test(part),
  )
  return isSafe ? parts.join('/') : undefined
}
