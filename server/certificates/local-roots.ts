import type { Account } from './authority.ts'

/** A root of the authority of this installation, and its key, in PEM format. */
export interface Root {
  readonly root: string
  readonly key: string
  readonly notBefore: Date
  readonly notAfter: Date
}

const dayMs = 86_400_000
/** A root is followed by the next one so long before its end, so that people can trust that one. */
const nextMs = 730 * dayMs
/** A root signs until so long before its end. Its certificates live shorter than that. */
const signMs = 120 * dayMs
/** A clock that was wrong may have made roots of other years. The oldest ones are forgotten. */
const mostRoots = 5

const isBegun = ({ notBefore }: Root, now: Date): boolean => notBefore <= now
const restOf = ({ notAfter }: Root, now: Date): number => notAfter.getTime() - now.getTime()

/** Returns the root that signs now: the oldest one with enough time left, else the last. Pure. */
export const signerOf = (roots: readonly Root[], now: Date): Root | undefined =>
  roots.find((one) => isBegun(one, now) && restOf(one, now) > signMs) ??
  roots.findLast((one) => isBegun(one, now)) ??
  roots.at(-1)

/** Whether the next root must be made. Pure. */
export const needsNext = (roots: readonly Root[], now: Date): boolean =>
  !roots.some((one) => isBegun(one, now) && restOf(one, now) > nextMs)

/**
 * Returns the text that is stored of roots. An ended root stays for a while: the clock may be
 * wrong. Pure.
 */
export function joined(roots: readonly Root[]): { readonly root: string; readonly key: string } {
  const kept = roots.slice(-mostRoots)
  return { root: kept.map(({ root }) => root.trim()).join('\n'), key: kept.map(({ key }) => key.trim()).join('\n') }
}

/** Returns the texts of the roots and keys of an account, the oldest first. Pure. */
export function partsOf({ root = '', key }: Account): readonly (readonly [root: string, key: string])[] {
  const keys = pemsIn(key.reveal())
  return pemsIn(root).map((one, index) => [one, keys[index] ?? ''])
}

const begin = '-----BEGIN '

/** Returns the objects of a text in PEM format, in their order. Pure. */
export const pemsIn = (text: string): readonly string[] =>
  text
    .split(begin)
    .slice(1)
    .map((part) => `${begin}${part.trim()}\n`)
