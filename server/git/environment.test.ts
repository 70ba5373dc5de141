import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../lib/secret.ts'
import { gitEnvironment, type Remote } from './environment.ts'

/** The configuration that git reads from the environment. */
const configOf = (environment: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: Number(environment['GIT_CONFIG_COUNT']) }, (_, index) => [
      environment[`GIT_CONFIG_KEY_${index}`],
      environment[`GIT_CONFIG_VALUE_${index}`],
    ]),
  )

const remote: Remote = {
  url: new URL('https://git.example:8443/team/app.git'),
  addresses: ['93.184.216.34', '2606:2800:220:1::1'],
  credential: { username: 'git', password: new Secret('SECRET-CANARY') },
}

test('contains only the listed variables', () => {
  const names = Object.keys(gitEnvironment('/home')).filter((name) => !/^GIT_CONFIG_(?:KEY|VALUE)_\d+$/.test(name))
  assert.deepEqual(names.sort(), [
    'GIT_ALLOW_PROTOCOL',
    'GIT_ASKPASS',
    'GIT_CONFIG_COUNT',
    'GIT_CONFIG_GLOBAL',
    'GIT_CONFIG_NOSYSTEM',
    'GIT_LFS_SKIP_SMUDGE',
    'GIT_TERMINAL_PROMPT',
    'HOME',
  ])
})

test('allows no protocol without a remote', () => {
  assert.equal(gitEnvironment('/home')['GIT_ALLOW_PROTOCOL'], 'none')
  assert.equal(gitEnvironment('/home', remote)['GIT_ALLOW_PROTOCOL'], 'https')
})

test('disables hooks, links, monitors, submodules, replacements and redirects', () => {
  const config = configOf(gitEnvironment('/home', remote))
  assert.deepEqual(
    [
      'core.hooksPath',
      'core.symlinks',
      'core.fsmonitor',
      'core.useReplaceRefs',
      'transfer.fsckObjects',
      'safe.bareRepository',
      'submodule.recurse',
      'fetch.recurseSubmodules',
      'http.followRedirects',
      'transfer.bundleURI',
    ].map((key) => config[key]),
    ['/dev/null', 'false', 'false', 'false', 'true', 'explicit', 'false', 'false', 'false', 'false'],
  )
})

test('pins the checked addresses and binds the credential to its origin', () => {
  const config = configOf(gitEnvironment('/home', remote))
  assert.equal(config['http.curloptResolve'], 'git.example:8443:93.184.216.34,[2606:2800:220:1::1]')
  assert.equal(
    config['http.https://git.example:8443/.extraHeader'],
    `Authorization: Basic ${Buffer.from('git:SECRET-CANARY').toString('base64')}`,
  )
  assert.ok(!JSON.stringify(gitEnvironment('/home', remote)).includes('SECRET-CANARY'))
})

test('literal addresses need no pin, and the standard port is written out', () => {
  const literal = configOf(
    gitEnvironment('/home', { url: new URL('https://[2606:2800:220:1::1]/x'), addresses: ['2606:2800:220:1::1'] }),
  )
  assert.equal(literal['http.curloptResolve'], undefined)
  const plain = configOf(gitEnvironment('/home', { url: new URL('http://git.inside/x'), addresses: ['10.0.0.1'] }))
  assert.equal(plain['http.curloptResolve'], 'git.inside:80:10.0.0.1')
})
