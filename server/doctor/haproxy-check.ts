import { whyNoHttp3 } from '@quayside/contract/http3.ts'
import { fail, isOlder, type Outcome, ok, parseVersion, warn } from './check.ts'
import type { Facts, HaproxyFact } from './facts.ts'

/** The first version that accepts the router's configuration. */
const oldest = '2.6'
/** The beginnings of what versions of HAProxy say. */
const names = ['HAProxy version ', 'HA-Proxy version ']
const shownLetters = 80

const remedy =
  'Install it (apt-get install haproxy), correct QUAYSIDE_HAPROXY, or unset it. ' +
  'Whenever HAProxy does not run, the router serves clients alone.'

const http3Remedy =
  'HTTP/3 needs QUAYSIDE_HAPROXY, a port of HTTPS and no proxies in front. Otherwise unset QUAYSIDE_HTTP3. ' +
  'Clients use HTTP/2 meanwhile.'

/** Pure: whether the router can start the program in front of it. */
export function checkHaproxy(fact: HaproxyFact | undefined): Outcome {
  if (!fact) return ok('No router of this machine uses HAProxy.')
  const { program, said = '', reason } = fact
  const what = `QUAYSIDE_HAPROXY is ${program}`
  if (reason !== undefined) return fail(`${what}, which does not run: ${reason}.`, remedy)
  const version = versionIn(said)
  if (version === undefined) return fail(`${what}, which does not say a version of HAProxy: ${shown(said)}.`, remedy)
  return isOlder(version, oldest)
    ? fail(`${what}, which is version ${version}. The router needs ${oldest} or later.`, remedy)
    : ok(`HAProxy is ${version}.`)
}

/** Pure: whether HAProxy can serve HTTP/3, if that is wanted. */
export function checkHttp3({ http3, haproxy }: Pick<Facts, 'http3' | 'haproxy'>): Outcome {
  if (!http3) return ok('HTTP/3 is off.')
  if (!haproxy) return warn('QUAYSIDE_HTTP3 is on, but only HAProxy serves HTTP/3.', http3Remedy)
  const reason = whyNoHttp3({ ...http3, build: haproxy.said ?? '' })
  return reason === undefined
    ? ok('HAProxy can serve HTTP/3.')
    : warn(`QUAYSIDE_HTTP3 is on, but ${reason}.`, http3Remedy)
}

/** Returns the version in the answer of HAProxy to `-v`. Undefined if another program answered. */
function versionIn(said: string): string | undefined {
  const name = names.find((one) => said.startsWith(one))
  return name === undefined ? undefined : parseVersion(said.slice(name.length).split(' ', 1)[0] ?? '')?.join('.')
}

/** Returns the beginning of a text in quotes, without characters that control a terminal. */
const shown = (said: string): string => JSON.stringify(said.trim().slice(0, shownLetters))
