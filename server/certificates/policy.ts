import { createHash } from 'node:crypto'
import { challengeKinds } from '@quayside/contract/routes.ts'
import type { ProofKind } from './authority.ts'

/** Stands for the authority of this installation, in place of the address of a directory. */
export const localAuthority = 'local'

export const letsEncrypt = 'https://acme-v02.api.letsencrypt.org/directory'

/**
 * Names below these are not in the public DNS (RFC 6761, 6762, 8375, 9476, and ICANN for
 * `internal`).
 */
const withoutPublicDns = ['localhost', 'test', 'example', 'invalid', 'local', 'internal', 'home.arpa', 'alt', 'onion']

/**
 * Pure: whether an authority can make a certificate for a host. None can for names of single
 * machines, and for `*.example.org` only if hosts can prove themselves in DNS. Let's Encrypt needs
 * names of the public DNS. The authority of this installation can for every name.
 */
export function isCertifiable(host: string, directory: string, canUseDns = false): boolean {
  if (directory === localAuthority) return true
  const isBelow = (zone: string): boolean => host === zone || host.endsWith(`.${zone}`)
  if ((host.startsWith('*.') && !canUseDns) || !host.includes('.') || isBelow('localhost')) return false
  return directory !== letsEncrypt || !withoutPublicDns.some(isBelow)
}

const minuteMs = 60_000
/** The pauses after failures in a row. Let's Encrypt allows five failures an hour for a name. */
const pausesMs = [1, 5, 20, 60, 180, 360, 720].map((minutes) => minutes * minuteMs)
/** A longer pause that an authority asks for is a mistake. */
const longestPauseMs = 14 * 24 * 60 * minuteMs

/** A certificate that an authority has made. */
export interface Made {
  readonly notBefore: Date
  readonly notAfter: Date
  /** When it was ordered, by the clock of this machine, which may differ from the authority's. */
  readonly orderedAt: Date
}

const lifeOf = ({ notBefore, notAfter }: Made): number => notAfter.getTime() - notBefore.getTime()

/**
 * Pure: returns when a certificate is renewed: at two thirds of its life, earlier by up to a
 * twentieth. How much depends on the host, so that hosts of the same age take turns.
 */
export function renewalAt(host: string, made: Made): Date {
  const wanted = made.notBefore.getTime() + lifeOf(made) * (2 / 3 - shareOf(host) / 20)
  return new Date(Math.max(wanted, earliestOf(made)))
}

const youngestRenewedMs = 6 * 3600_000
/** So much of the life of a certificate is enough, if it is shorter than six hours. */
const youngestShare = 0.1
/** No window delays a renewal beyond this share of the life of a certificate. */
const latestShare = 0.9

/**
 * Returns when a certificate may be renewed. An authority whose windows are always in the past, or
 * a clock that is far ahead, would otherwise have one certificate ordered after the other.
 */
const earliestOf = (made: Made): number =>
  made.orderedAt.getTime() + Math.max(minuteMs, Math.min(youngestRenewedMs, lifeOf(made) * youngestShare))

/**
 * Pure: returns when a certificate is renewed by a window of the authority, by its host. One whose
 * windows are too late would let it expire.
 */
export function renewalIn(
  host: string,
  { start, end }: { readonly start: Date; readonly end: Date },
  made: Made,
): Date {
  const wanted = start.getTime() + (end.getTime() - start.getTime()) * shareOf(host)
  const latest = made.notBefore.getTime() + lifeOf(made) * latestShare
  return new Date(Math.max(Math.min(wanted, latest), earliestOf(made)))
}

/** A time that is further in the future was written while the clock was ahead. */
export const clockToleranceMs = 60 * minuteMs

export const moved = (time: Date, ms: number): Date => new Date(time.getTime() + ms)

/**
 * Pure: returns when the attempt after a failure begins. `failures` counts the last one. The pause
 * is as long as the authority asks for, or grows with the failures. It is longer by up to a tenth.
 */
export function retryAt(host: string, failures: number, now: Date, retryAfterSeconds = 0): Date {
  const pause = pausesMs[Math.min(failures, pausesMs.length) - 1] ?? 0
  const asked = Math.min(retryAfterSeconds * 1000, longestPauseMs)
  return new Date(now.getTime() + Math.max(pause, asked) * (1 + shareOf(host) / 10))
}

/**
 * Pure: returns how the attempt after a failure proves the host. If the authority could not check
 * the host, the other way follows: a firewall may close one of both ports. DNS has no other way.
 */
export const nextKind = (kind: ProofKind, isCheck: boolean): ProofKind =>
  isCheck && kind !== 'dns-01' ? (challengeKinds.find((one) => one !== kind) ?? kind) : kind

/** Returns a number from 0 to 1 that is always the same for a host. */
const shareOf = (host: string): number => createHash('sha256').update(host).digest().readUInt32BE() / 2 ** 32
