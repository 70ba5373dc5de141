import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isHosted, repositoryKey } from './repository-key.ts'

const home = ['http://localhost:3000', 'https://quayside.example.org']
const keys: readonly [string, string | undefined][] = [
  ['https://github.com/Acme/Shop.git', 'github.com/acme/shop'],
  ['https://GitHub.com/acme/shop/', 'github.com/acme/shop'],
  ['https://somebody@github.com:443/acme/shop', 'github.com/acme/shop'],
  ['git@github.com:acme/shop.git', 'github.com/acme/shop'],
  ['ssh://git@gitlab.example.org:2222/group/sub/shop.git', 'gitlab.example.org/group/sub/shop'],
  ['git://github.com/acme/shop.git', 'github.com/acme/shop'],
  ['https://git.example.org:8443/acme/shop', 'git.example.org:8443/acme/shop'],
  ['http://localhost:3000/git/hello.git', '/git/hello'],
  ['https://quayside.example.org/git/hello.git', '/git/hello'],
  ['http://localhost:3000/git/../hello.git', undefined],
  ['http://localhost:3001/git/hello.git', 'localhost:3001/git/hello'],
  ['https://github.com/', undefined],
  ['file:///srv/shop', undefined],
  ['ext::sh -c id', undefined],
  ['', undefined],
]
for (const [address, key] of keys) {
  test(`${address || 'nothing'} is ${key ?? 'no repository'}`, () => assert.equal(repositoryKey(address, home), key))
}

test('an address is hosted if it names a repository below one of the own origins', () => {
  assert.equal(isHosted('http://localhost:3000/git/shop.git', home), true)
  assert.equal(isHosted('https://github.com/git/shop.git', home), false)
  assert.equal(isHosted('nothing', home), false)
})
