/** The part of the Terraform language that can be read without evaluating it. */
export interface Body {
  /** The text after `=`, as written. */
  readonly attributes: ReadonlyMap<string, string>
  readonly blocks: readonly Block[]
}
export interface Block extends Body {
  readonly type: string
  readonly labels: readonly string[]
}

/** The text is not valid HCL. `message` names the place. */
export class HclError extends Error {}

const deepest = 50
const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

/** Reads a whole file, in one pass. Throws HclError. */
export function parseHcl(text: string): Body {
  const reader = new Reader(text.replace(/^\uFEFF/, ''))
  const body = reader.body(0)
  if (!reader.atEnd()) throw reader.error('an unexpected "}"')
  return body
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  atEnd(): boolean {
    return this.#at >= this.#text.length
  }

  error(what: string): HclError {
    const line = this.#text.slice(0, this.#at).split('\n').length
    return new HclError(`line ${line} has ${what}`)
  }

  body(depth: number): Body {
    if (depth > deepest) throw this.error('blocks that are nested too deep')
    const attributes = new Map<string, string>()
    const blocks: Block[] = []
    for (this.#skip(); !this.atEnd() && this.#text[this.#at] !== '}'; this.#skip()) {
      const name = this.#match(/[\p{L}_][\p{L}\p{N}_-]*/uy) ?? this.#quoted()
      if (name === undefined) throw this.error('neither a name nor a block')
      this.#spaces()
      if (this.#text[this.#at] === '=' || this.#text[this.#at] === ':') {
        this.#at++
        attributes.set(name, this.#expression())
      } else blocks.push(this.#block(name, depth))
    }
    return { attributes, blocks }
  }

  #block(type: string, depth: number): Block {
    const labels: string[] = []
    for (this.#spaces(); this.#text[this.#at] !== '{'; this.#spaces()) {
      const label = this.#quoted() ?? this.#match(/[\p{L}_][\p{L}\p{N}_-]*/uy)
      if (label === undefined) throw this.error(`no "{" after ${type}`)
      labels.push(label)
    }
    this.#at++
    const body = this.body(depth + 1)
    if (this.#text[this.#at] !== '}') throw this.error(`no "}" for the block ${type}`)
    this.#at++
    return { type, labels, ...body }
  }

  /** Reads to the end of the line, or to the end of an open bracket. */
  #expression(): string {
    this.#spaces()
    const start = this.#at
    const open: string[] = []
    while (!this.atEnd()) {
      const character = this.#text[this.#at] ?? ''
      if (open.length === 0 && (character === '\n' || character === '}' || character === ',')) break
      if (this.#comment()) {
        if (open.length === 0) return this.#text.slice(start, this.#commentStart).trim()
        continue
      }
      if (character === '"') this.#string()
      else if (!this.#heredoc()) {
        const close = closing[character]
        if (close) open.push(close)
        else if (character === open.at(-1)) open.pop()
        this.#at++
      }
    }
    if (open.length > 0) throw this.error(`no "${open.at(-1)}"`)
    return this.#text.slice(start, this.#at).trim()
  }

  /** Skips a quoted text with the expressions in it. */
  #string(): void {
    const start = this.#at++
    let braces = 0
    for (; !this.atEnd(); this.#at++) {
      const two = this.#text.slice(this.#at, this.#at + 2)
      if (two[0] === '\\' && braces === 0) this.#at++
      else if (two === '${' || two === '%{') {
        braces++
        this.#at++
      } else if (braces > 0 && two[0] === '{') braces++
      else if (braces > 0 && two[0] === '}') braces--
      else if (two[0] === '"' && braces === 0) {
        this.#at++
        return
      } else if (two[0] === '\n' && braces === 0) break
    }
    this.#at = start
    throw this.error('a string without its closing quote')
  }

  #heredoc(): boolean {
    if (!this.#text.startsWith('<<', this.#at)) return false
    const tag = /<<-?([A-Za-z_]\w*)[ \t\r]*\n/y
    tag.lastIndex = this.#at
    const found = tag.exec(this.#text)
    if (!found) return false
    const end = new RegExp(`^[ \\t]*${found[1]}[ \\t\\r]*$`, 'm')
    const rest = this.#text.slice(tag.lastIndex)
    const match = end.exec(rest)
    if (!match) throw this.error(`no end of <<${found[1]}`)
    this.#at = tag.lastIndex + match.index + match[0].length
    return true
  }

  #quoted(): string | undefined {
    const raw = this.#match(/"(?:[^"\\\n]|\\.)*"/y)
    return raw === undefined ? undefined : literal(raw)
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  #spaces(): void {
    this.#match(/[ \t\r]*/y)
  }

  #commentStart = 0
  #comment(): boolean {
    this.#commentStart = this.#at
    if (!/[#/]/.test(this.#text[this.#at] ?? '')) return false
    if (this.#text.startsWith('/*', this.#at)) {
      const end = this.#text.indexOf('*/', this.#at + 2)
      this.#at = end === -1 ? this.#text.length : end + 2
      return true
    }
    return this.#match(/(?:#|\/\/)[^\n]*/y) !== undefined
  }

  /** Skips blanks and comments between two statements. */
  #skip(): void {
    do this.#match(/[\s,]*/y)
    while (this.#comment())
  }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

/** Returns the value of an expression that is a plain text, and any other expression as written. */
export function literal(expression: string): string {
  const heredoc = /^<<(-?)([A-Za-z_]\w*)[ \t\r]*\n([\s\S]*)\n[ \t]*\2[ \t\r]*$/.exec(`${expression}`)
  if (heredoc) return heredoc[1] === '-' ? unindent(heredoc[3] ?? '') : (heredoc[3] ?? '')
  const inside = /^"((?:[^"\\]|\\[\s\S])*)"$/.exec(expression)?.[1]
  if (inside === undefined) return expression
  return inside
    .replace(/\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g, (_, code: string | undefined, one: string | undefined) =>
      code ? String.fromCharCode(Number.parseInt(code, 16)) : (escapes[one ?? ''] ?? one ?? ''),
    )
    .replaceAll('$${', '${')
}

function unindent(text: string): string {
  const lines = text.split('\n')
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/))
  const least = indents.reduce((smallest, indent) => Math.min(smallest, indent), Number.MAX_SAFE_INTEGER)
  return lines.map((line) => line.slice(Math.min(least, line.length))).join('\n')
}
