import { test } from 'node:test'
import fc from 'fast-check'
import { readPayload, type Told } from './payloads.ts'

const names = fc.constantFrom(
  'ref',
  'before',
  'after',
  'repository',
  'clone_url',
  'ssh_url',
  'html_url',
  'project',
  'git_http_url',
  'push',
  'changes',
  'new',
  'old',
  'target',
  'hash',
  'name',
  'type',
  'links',
  'html',
  'href',
  'commits',
  'added',
  'removed',
  'modified',
  'forced',
  'created',
  'pusher',
  'head_commit',
  'author',
  'actor',
  'display_name',
  'user_name',
  '__proto__',
  'constructor',
  'length',
)
const leaves = fc.oneof(
  fc.constantFrom(
    'refs/heads/main',
    'refs/tags/x',
    'refs/heads/../x',
    '0'.repeat(40),
    'a'.repeat(40),
    'branch',
    'https://x/y.git',
  ),
  fc.constantFrom(null, true, false, 0, -1, 1e308, Number.NaN, '', '\0', '\ud800'),
  fc.string(),
)
const { body } = fc.letrec<{ body: unknown }>((tie) => ({
  body: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaves,
    fc.array(tie('body'), { maxLength: 3 }),
    fc.dictionary(names, tie('body'), { maxKeys: 6 }),
  ),
}))
const isText = (value: unknown): boolean => typeof value === 'string'
const isFit = (told: Told): boolean =>
  'ignored' in told
    ? isText(told.ignored)
    : told.addresses.every(isText) &&
      told.pushes.length <= 100 &&
      told.pushes.every(
        ({ branch, commit, pusher, paths }) =>
          isText(branch) && /^[0-9a-f]{40,64}$/.test(commit) && isText(pusher) && (paths ?? []).every(isText),
      )

for (const provider of ['GITHUB', 'GITLAB', 'BITBUCKET'] as const) {
  test(`${provider}: any body is either read or ignored, and a read one is well-formed`, () => {
    const inPlace = fc.oneof(
      body,
      fc.record({
        ref: fc.constant('refs/heads/main'),
        after: fc.constant('a'.repeat(40)),
        repository: body,
        commits: body,
      }),
      fc.record({ push: fc.record({ changes: fc.array(fc.record({ new: body, old: body })) }), repository: body }),
    )
    fc.assert(
      fc.property(inPlace, (value) => isFit(readPayload(provider, value))),
      { numRuns: 5000 },
    )
  })
}
