import { BuildError } from './builder.ts'
import { compilePattern, matchesPattern, type Pattern } from './ignore-pattern.ts'

/** A file that names what the context leaves out: `.dockerignore`, or that of the Dockerfile. */
export type IgnoreFile = {
  /** Relative to the context. */
  readonly path: string
  readonly text: string
}

interface Rule {
  readonly pattern: Pattern
  readonly isException: boolean
}

export const ignoreLimits = { bytes: 1024 ** 2, patterns: 10_000, patternLength: 1024 } as const

/** The most steps that all patterns may take for one path, and for all paths of a build. */
const maxPathWork = 200_000
const maxWork = 100_000_000

/** Returns the names under which Docker looks for the file, in this order. */
export const ignoreFileNames = (dockerfile: string): readonly string[] => [
  `${dockerfile}.dockerignore`,
  '.dockerignore',
]

/**
 * Reads the rules as Docker does. Throws BuildError for a pattern that Docker rejects or reads in
 * an unexpected way.
 */
export function readIgnoreFile({ path, text }: IgnoreFile): readonly Rule[] {
  if (Buffer.byteLength(text) > ignoreLimits.bytes) {
    throw new BuildError('limits', `${path} is larger than ${ignoreLimits.bytes} bytes. Use fewer patterns.`)
  }
  const rules: Rule[] = []
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    const pattern = line.startsWith('#') ? '' : trimmed(line)
    if (pattern === '') continue
    if (rules.length === ignoreLimits.patterns) {
      throw new BuildError('limits', `${path} has more than ${ignoreLimits.patterns} patterns. Use fewer.`)
    }
    try {
      rules.push(readRule(pattern))
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error)
      throw new BuildError('dockerfile', `${path}, line ${index + 1}: ${problem}. Correct it and deploy again.`)
    }
  }
  return rules
}

function readRule(line: string): Rule {
  const isInverted = line.startsWith('!')
  const path = cleaned(trimmed(isInverted ? line.slice(1) : line))
  const relative = path.length > 1 && path.startsWith('/') ? path.slice(1) : path
  // Docker parses the line a second time: "/!a" is an exception.
  const again = cleaned(trimmed(`${isInverted ? '!' : ''}${relative}`))
  const isException = again.startsWith('!')
  const pattern = isException ? again.slice(1) : again
  if (pattern === '') throw new Error('"!" needs a pattern after it')
  if (pattern.length > ignoreLimits.patternLength) {
    throw new Error(`the pattern is longer than ${ignoreLimits.patternLength} characters`)
  }
  if (/[\p{Cc}\uFEFF\uFFFD]/u.test(pattern)) throw new Error('the pattern has control characters or is not UTF-8')
  return { pattern: compilePattern(pattern), isException }
}

/** Returns the shortest path with the same meaning; '' only for ''. */
function cleaned(path: string): string {
  if (path === '') return ''
  const isRooted = path.startsWith('/')
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..' || (parts.length === 0 ? !isRooted : parts.at(-1) === '..')) parts.push(part)
    else parts.pop()
  }
  const joined = parts.join('/')
  return isRooted ? `/${joined}` : joined || '.'
}

/** Trims Go's white space, which differs from that of JavaScript. */
const blanks = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/

function trimmed(text: string): string {
  let begin = 0
  let end = text.length
  while (begin < end && blanks.test(text[begin] ?? '')) begin++
  while (begin < end && blanks.test(text[end - 1] ?? '')) end--
  return text.slice(begin, end)
}

/** The rules that match a directory. */
interface Level {
  readonly path: string
  readonly matches: Uint8Array
}

export interface Ignorer {
  /**
   * Whether the last rule that matches the path excludes it. Faster if paths of a directory follow
   * each other.
   */
  excludes(path: string): boolean
  /** Steps taken so far. */
  readonly work: number
}

/**
 * Creates an Ignorer. A rule that matches a directory matches everything below it. The work is
 * counted and is at most patterns × length of the path. Throws BuildError if the patterns of a
 * build take too much of it.
 */
export function createIgnorer(file: IgnoreFile): Ignorer {
  const rules = readIgnoreFile(file)
  const levels: Level[] = []
  let work = 0
  let pathEnd = 0
  const spend = (steps: number): void => {
    work += steps
    if (work <= pathEnd && work <= maxWork) return
    throw new BuildError(
      'limits',
      `The patterns of ${file.path} take too long to compare with the files of the repository. Use fewer ` +
        'patterns with wildcards.',
    )
  }
  /**
   * Skips a rule that cannot change the result, as Docker does. Below a directory it is tested
   * again.
   */
  const decide = (path: string, above: Uint8Array | undefined): { excluded: boolean; matches: Uint8Array } => {
    const matches = new Uint8Array(rules.length)
    let excluded = false
    for (const [index, { pattern, isException }] of rules.entries()) {
      const isInherited = above?.[index] === 1
      if (!isInherited && isException !== excluded) continue
      if (!isInherited && !matchesPattern(pattern, path, spend)) continue
      matches[index] = 1
      excluded = !isException
    }
    spend(rules.length >> 3)
    return { excluded, matches }
  }
  return {
    get work() {
      return work
    },
    excludes(path) {
      pathEnd = work + maxPathWork
      const parts = path.split('/')
      let depth = 0
      for (; depth < parts.length - 1; depth++) {
        const directory = parts.slice(0, depth + 1).join('/')
        if (levels[depth]?.path === directory) continue
        levels.length = depth
        levels.push({ path: directory, matches: decide(directory, levels[depth - 1]?.matches).matches })
      }
      return decide(path, levels[depth - 1]?.matches).excluded
    },
  }
}
