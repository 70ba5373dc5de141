import { GitError } from './git.ts'

const brokenObjects = (): string =>
  'The repository contains objects that git rejects as unsafe or broken. Check it with "git fsck --strict".'

const causes: readonly (readonly [RegExp, GitError['reason'], (host: string) => string])[] = [
  [
    // One message for missing and forbidden, because it must not reveal which private repositories
    // exist.
    /Authentication failed|could not read (?:Username|Password)|returned error: 40[134]|repository .*not found|not a git repository/i,
    'denied',
    (host) =>
      `${host} does not show this repository: it does not exist, or the git token does not give access to ` +
      'it. Check the address and the git token.',
  ],
  [
    /returned error: 30\d|redirect/i,
    'unreachable',
    (host) =>
      `${host} sends the request on to another address, which is not followed. Use the final address of the ` +
      'repository.',
  ],
  [
    /couldn't find remote ref/i,
    'branch',
    () => 'The repository has no such branch. Check the name of the branch, or push it.',
  ],
  [
    /early EOF|unexpected disconnect|transfer closed with/i,
    'unreachable',
    (host) => `${host} closed the connection while it sent the repository. Try again.`,
  ],
  [/pack has bad object|pack is corrupted|inflate/i, 'path', brokenObjects],
  [
    /not our ref|unadvertised object|no such remote ref|bad (?:object|revision)|not a (?:tree|valid) object|expected commit type|ambiguous argument|unable to find [0-9a-f]{40}/i,
    'commit',
    () => 'The repository no longer has this commit. Deploy a commit that is on the branch.',
  ],
  [
    /Operation too slow|timed out|Timeout was reached/i,
    'timeout',
    (host) => `${host} was too slow to answer. Try again later.`,
  ],
  [
    /Could not resolve host|Couldn't connect|Failed to connect|Connection refused|Connection reset/i,
    'unreachable',
    (host) => `${host} cannot be reached. Check the address of the repository and whether its server is up.`,
  ],
  [
    /SSL|certificate/i,
    'unreachable',
    (host) => `The certificate of ${host} is not accepted, so the repository is not read.`,
  ],
  [
    /dumb http transport/i,
    'unreachable',
    (host) => `${host} offers only the old "dumb" git protocol. Serve the repository with git's smart protocol.`,
  ],
  [
    /fsck error|badTree|hasDot|hasDotdot|hasDotgit|fullPathname|error in .*object|invalid object/i,
    'path',
    brokenObjects,
  ],
  [/out of memory|No space left|File too large/i, 'limits', () => 'The repository is too large for this server.'],
]

/** Turns git's standard error into an error for the user. `host` is the contacted server. */
export function explainFailure(stderr: string, host: string): GitError {
  for (const [pattern, reason, message] of causes) {
    if (pattern.test(stderr)) return new GitError(reason, message(host), { cause: new Error(stderr) })
  }
  return new GitError('unreachable', `The repository of ${host} cannot be read: ${lastLine(stderr)}`, {
    cause: new Error(stderr),
  })
}

/** Returns one short, printable line. */
function lastLine(stderr: string): string {
  const line = stderr.trim().split('\n').at(-1) ?? ''
  return [...line.replace(/\p{Cc}/gu, ' ')].slice(0, 300).join('') || 'git named no reason.'
}
