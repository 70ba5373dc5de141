/** Longer texts are found by their beginning and compared from there on. */
const beginningUnits = 8
/**
 * This much of a longer text also counts as found: a text that was cut off is hidden as far as it
 * goes.
 */
const enoughUnits = 32

/** Returns the text in lower case, unit by unit: a folded text keeps its length. */
const folded = new Uint16Array(65_536)
for (let unit = 0; unit < folded.length; unit++) {
  const lower = String.fromCharCode(unit).toLowerCase()
  folded[unit] = lower.length === 1 ? lower.charCodeAt(0) : unit
}
const fold = (unit: number): number => folded[unit] ?? unit
const foldText = (text: string): string => {
  const lower = text.toLowerCase()
  if (lower.length === text.length) return lower
  let result = ''
  for (let index = 0; index < text.length; index++) result += String.fromCharCode(fold(text.charCodeAt(index)))
  return result
}

/** The beginning and end of a match. */
export type Span = readonly [begin: number, end: number]

/**
 * Finds any of many texts in a text, ignoring case, by Aho and Corasick: each character is read
 * once, however many texts there are. A long text is found by its beginning, and the rest is
 * compared as far as it agrees.
 */
export class TextFinder {
  /** The number of each unit that occurs in the texts, from 1; 0 for any other unit. */
  readonly #letters = new Uint16Array(65_536)
  /** The number of letters plus one. */
  readonly #width: number
  /** By node and letter: the next node. Nodes are numbers, the root is 0. */
  readonly #next = new Map<number, number>()
  readonly #first: Int32Array
  readonly #fail: number[] = [0]
  /** The length of the longest beginning that ends at a node; 0 if none does. */
  readonly #ends: number[] = [0]
  /** The possible rests of long texts after each shared beginning, sorted. */
  readonly #rests = new Map<number, string[]>()

  constructor(texts: Iterable<string>) {
    const beginnings = [...texts].map(foldText)
    let letters = 0
    for (const text of beginnings) {
      for (let index = 0; index < Math.min(text.length, beginningUnits); index++) {
        const unit = text.charCodeAt(index)
        if (this.#letters[unit] === 0) this.#letters[unit] = ++letters
      }
    }
    this.#width = letters + 1
    this.#first = new Int32Array(this.#width)
    const children: [parent: number, letter: number, node: number][] = []
    for (const text of beginnings) this.#add(text, children)
    for (const rests of this.#rests.values()) rests.sort()
    this.#link(children)
  }

  /** Returns the matches in the text, in order; none touch. */
  find(text: string): Span[] {
    const spans: [number, number][] = []
    let node = 0
    let covered = 0
    let waiting: readonly [node: number, at: number] | undefined
    for (let index = 0; index < text.length; index++) {
      const letter = this.#letters[fold(text.charCodeAt(index))] ?? 0
      node = letter === 0 ? 0 : this.#step(node, letter)
      if (node === 0) continue
      if (this.#ends[node] === 0) continue
      const end = index + 1
      if (waiting && end >= covered) {
        covered = this.#follow(spans, waiting[0], text, waiting[1])
        waiting = undefined
      }
      // Inside a match: followed only after it ends, so the same text is not compared again and
      // again.
      if (end < covered) waiting = [node, end]
      else covered = Math.max(covered, this.#follow(spans, node, text, end))
    }
    if (waiting) this.#follow(spans, waiting[0], text, waiting[1])
    return spans
  }

  #add(text: string, children: [number, number, number][]): void {
    let node = 0
    const length = Math.min(text.length, beginningUnits)
    for (let index = 0; index < length; index++) {
      const letter = this.#letters[text.charCodeAt(index)] ?? 0
      let next = this.#child(node, letter)
      if (next === 0) {
        next = this.#fail.length
        this.#fail.push(0)
        this.#ends.push(0)
        if (node === 0) this.#first[letter] = next
        else this.#next.set(node * this.#width + letter, next)
        children.push([node, letter, next])
      }
      node = next
    }
    this.#ends[node] = length
    const rests = this.#rests.get(node) ?? []
    rests.push(text.slice(length))
    this.#rests.set(node, rests)
  }

  #child(node: number, letter: number): number {
    return (node === 0 ? this.#first[letter] : this.#next.get(node * this.#width + letter)) ?? 0
  }

  #step(from: number, letter: number): number {
    for (let node = from; ; node = this.#fail[node] ?? 0) {
      const next = this.#child(node, letter)
      if (next !== 0 || node === 0) return next
    }
  }

  /**
   * Each node fails to the longest other beginning that its own text ends with. Parents come before
   * their children, level by level.
   */
  #link(children: readonly (readonly [parent: number, letter: number, node: number])[]): void {
    const depth = [0]
    for (const [parent, , node] of children) depth[node] = (depth[parent] ?? 0) + 1
    const byDepth = children.toSorted((one, other) => (depth[one[2]] ?? 0) - (depth[other[2]] ?? 0))
    for (const [parent, letter, node] of byDepth) {
      const fail = parent === 0 ? 0 : this.#step(this.#fail[parent] ?? 0, letter)
      this.#fail[node] = fail
      if ((this.#ends[node] ?? 0) === 0) this.#ends[node] = this.#ends[fail] ?? 0
    }
  }

  /**
   * Adds the matches of texts whose beginnings end here. Returns the end of the match; 0 if there
   * is none.
   */
  #follow(spans: [number, number][], node: number, text: string, from: number): number {
    let furthest = 0
    for (let at = node; at !== 0; at = this.#fail[at] ?? 0) {
      const rests = this.#rests.get(at)
      if (!rests) continue
      const begun = this.#ends[at] ?? 0
      const more = agreement(rests, text, { from, least: enoughUnits - begun })
      if (more === undefined) continue
      add(spans, from - begun, from + more)
      furthest = Math.max(furthest, from + more)
    }
    return furthest
  }
}

/**
 * Returns how many units from there match a whole sorted rest, or the beginning of one with at
 * least the given length; undefined if none.
 */
function agreement(
  rests: readonly string[],
  text: string,
  { from, least }: { readonly from: number; readonly least: number },
): number | undefined {
  let [low, high] = [0, rests.length]
  let whole: number | undefined
  for (let offset = 0; ; offset++) {
    // The shortest comes first.
    if (rests[low]?.length === offset) whole = offset
    if (from + offset >= text.length) return offset >= least ? offset : whole
    const unit = fold(text.charCodeAt(from + offset))
    low = border(rests, { low, high, offset, least: unit })
    high = border(rests, { low, high, offset, least: unit + 1 })
    if (low >= high) return offset >= least ? offset : whole
  }
}

/**
 * Returns the first of these rests whose unit at the offset is not below `least`; a rest that has
 * ended sorts before all others.
 */
function border(
  rests: readonly string[],
  {
    low,
    high,
    offset,
    least,
  }: { readonly low: number; readonly high: number; readonly offset: number; readonly least: number },
): number {
  let [from, to] = [low, high]
  while (from < to) {
    const middle = (from + to) >> 1
    const rest = rests[middle] ?? ''
    const unit = offset < rest.length ? rest.charCodeAt(offset) : -1
    if (unit < least) from = middle + 1
    else to = middle
  }
  return from
}

/** Adds a span after the others and merges it with spans that it overlaps. */
function add(spans: [number, number][], begin: number, end: number): void {
  let from = begin
  let to = end
  for (let last = spans.at(-1); last && last[1] >= from; last = spans.at(-1)) {
    from = Math.min(from, last[0])
    to = Math.max(to, last[1])
    spans.pop()
  }
  spans.push([from, to])
}
