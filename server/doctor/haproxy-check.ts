import { fail, isOlder, type Outcome, ok, parseVersion } from './check.ts'
import type { HaproxyFact } from './facts.ts'

/** The first version that accepts the router's configuration. */
const oldest = '2.6'
/** The beginnings of what versions of HAProxy say. */
const names = ['HAProxy version ', 'HA-Proxy version ']
const shownLetters = 80

const remedy =
  'Install it (apt-get install haproxy), correct QUAYSIDE_HAPROXY, or unset it. ' +
  'Whenever HAProxy does not run, the router serves clients alone.'

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

/** Returns the version in the answer of HAProxy to `-v`. Undefined if another program answered. */
function versionIn(said: string): string | undefined {
  const name = names.find((one) => said.startsWith(one))
  return name === undefined ? undefined : parseVersion(said.slice(name.length).split(' ', 1)[0] ?? '')?.join('.')
}

/** Returns the beginning of a text in quotes, without characters that control a terminal. */
const shown = (said: string): string => JSON.stringify(said.trim().slice(0, shownLetters))
