/**
 * Pure: compares two versions of Debian packages as dpkg does: negative if the left one is older.
 */
export function compareDebian(left: string, right: string): number {
  const [a, b] = [partsOf(left), partsOf(right)]
  return a.epoch - b.epoch || compareText(a.upstream, b.upstream) || compareText(a.revision, b.revision)
}

function partsOf(version: string): { readonly epoch: number; readonly upstream: string; readonly revision: string } {
  const colon = version.indexOf(':')
  const rest = version.slice(colon + 1)
  const dash = rest.lastIndexOf('-')
  return {
    epoch: colon < 0 ? 0 : Number(version.slice(0, colon)) || 0,
    upstream: dash < 0 ? rest : rest.slice(0, dash),
    revision: dash < 0 ? '' : rest.slice(dash + 1),
  }
}

/** Compares runs of other characters and runs of digits in turn. */
function compareText(left: string, right: string): number {
  const [a, b] = [runsOf(left), runsOf(right)]
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [x, y] = [a[at] ?? '', b[at] ?? '']
    const differing = at % 2 === 0 ? compareOthers(x, y) : compareDigits(x, y)
    if (differing !== 0) return differing
  }
  return 0
}

/** Returns runs of other characters and of digits in turn. The first one may be empty. */
const runsOf = (text: string): readonly string[] => text.split(/(\d+)/)

function compareDigits(left: string, right: string): number {
  const [x, y] = [left.replace(/^0+/, ''), right.replace(/^0+/, '')]
  return x.length - y.length || (x < y ? -1 : x > y ? 1 : 0)
}

function compareOthers(left: string, right: string): number {
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const differing = weightOf(left[at]) - weightOf(right[at])
    if (differing !== 0) return differing
  }
  return 0
}

/** A tilde sorts before the end, the end before letters, letters before everything else. */
function weightOf(character: string | undefined): number {
  if (character === '~') return -1
  if (character === undefined) return 0
  const code = character.charCodeAt(0)
  return /[A-Za-z]/.test(character) ? code : code + 256
}
