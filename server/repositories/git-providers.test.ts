import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { outsideToken, startOutside } from '../../test/support/outside.ts'
import { createAddressGuard } from '../lib/address.ts'
import { createSafeFetch } from '../lib/safe-fetch.ts'
import { Secret } from '../lib/secret.ts'
import { providerApis } from './apis.ts'
import { createGitProviders, type ProviderToken } from './git-providers.ts'

const outside = await startOutside()
after(() => outside.close())
const { signal } = new AbortController()
const asking = (allowedPrivateCidrs: readonly string[]) =>
  createGitProviders(createSafeFetch(createAddressGuard({ allowedPrivateCidrs })))
const providers = asking(['127.0.0.0/8'])
const tokenOf = (type: ProviderToken['type'], text = outsideToken): ProviderToken => ({
  type,
  git_api_url: outside.origin,
  workspace: 'team',
  token: new Secret(text),
})

test('repositories are listed page by page', async () => {
  const found = await providers.repositories(tokenOf('GITHUB'), signal)
  assert.equal(found.length, 101)
  assert.deepEqual(found[100], {
    id: '2000',
    name: 'team/shop-2-0',
    url: 'https://github.invalid/team/shop-2-0.git',
    default_branch: 'main',
    is_private: true,
  })
})

test('each provider has its own paths and fields', async () => {
  assert.deepEqual(await providers.repositories(tokenOf('GITLAB'), signal), [
    { id: '7', name: 'team/sub/shop', url: 'https://gitlab.invalid/team/sub/shop.git', is_private: false },
  ])
  assert.deepEqual(await providers.repositories(tokenOf('BITBUCKET'), signal), [
    {
      id: '{1}',
      name: 'team/shop',
      url: 'https://bitbucket.invalid/team/shop.git',
      default_branch: 'main',
      is_private: true,
    },
  ])
})

test('branches are those of the named repository', async () => {
  for (const [type, name] of [
    ['GITHUB', 'team/shop'],
    ['GITLAB', 'team/sub/shop'],
    ['BITBUCKET', 'team/shop'],
  ] as const) {
    assert.deepEqual(await providers.branches(tokenOf(type), name, signal), ['main', 'next'], type)
  }
  await assert.rejects(providers.branches(tokenOf('GITHUB'), 'team/none', signal), /status 404/)
})

test('a malformed name sends no request', async () => {
  const before = outside.asked.length
  for (const name of [
    '',
    'shop',
    '../../user',
    'team/..',
    'team/./x',
    'a?b/c',
    'a#/b',
    'team/shop/../../x',
    'a b/c',
    '/a/b',
    'a/b/',
  ]) {
    await assert.rejects(providers.branches(tokenOf('GITHUB'), name, signal), { code: 'invalid' }, name)
  }
  assert.equal(outside.asked.length, before)
})

test('a wrong token is reported without repeating it', async () => {
  await assert.rejects(providers.repositories(tokenOf('GITHUB', 'SECRET-WRONG'), signal), (error: Error) => {
    assert.match(error.message, /check the git token/)
    return !error.message.includes('SECRET')
  })
})

test('private addresses get no token unless the operator listed them', async () => {
  const before = outside.asked.length
  await assert.rejects(asking([]).repositories(tokenOf('GITLAB'), signal), /is not public/)
  assert.equal(outside.asked.length, before)
})

test('the hosted editions have their own addresses', () => {
  const base = (type: ProviderToken['type'], url: string): string => providerApis[type].base(new URL(url))
  assert.equal(base('GITHUB', 'https://github.com'), 'https://api.github.com')
  assert.equal(base('GITHUB', 'https://github.example.com/'), 'https://github.example.com/api/v3')
  assert.equal(base('GITHUB', 'https://github.example.com/api/v3'), 'https://github.example.com/api/v3')
  assert.equal(base('GITLAB', 'https://gitlab.com'), 'https://gitlab.com/api/v4')
  assert.equal(base('BITBUCKET', 'https://bitbucket.org'), 'https://api.bitbucket.org/2.0')
})
