import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inferProvider, ownerAndName } from './git-address.ts'

test('the provider follows from the host', () => {
  assert.equal(inferProvider('https://github.com/a/b.git'), 'GITHUB')
  assert.equal(inferProvider('https://gitlab.example.org/a/b.git'), 'GITLAB')
  assert.equal(inferProvider('https://bitbucket.org/a/b.git'), 'BITBUCKET')
  assert.equal(inferProvider('https://git.example.org/gitlab/b.git'), 'GITHUB')
})

const addresses: [string, string, string][] = [
  ['https://github.com/owner/name.git', 'owner', 'name'],
  ['https://github.com/owner/name', 'owner', 'name'],
  ['https://gitlab.com/group/sub/name.git/', 'group/sub', 'name'],
  ['http://localhost:3000/git/hello.git', 'git', 'hello'],
  ['https://github.com/name.git', 'name', 'name'],
]
for (const [url, owner, name] of addresses) {
  test(`${url} is ${name} of ${owner}`, () => {
    for (let turn = 0; turn < 2; turn++) assert.deepEqual(ownerAndName(url), { owner, name })
  })
}
