import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAddressGuard } from '../lib/address.ts'
import { GitError } from './git.ts'
import { parseRepositoryAddress } from './repository-address.ts'

const home = 'http://localhost:3000'
const strict = createAddressGuard({ allowedPrivateCidrs: [] })
const lenient = createAddressGuard({ allowedPrivateCidrs: ['10.1.0.0/16'] })

test('reads addresses of git servers', () => {
  for (const url of [
    'https://git.example.com/team/app.git',
    'https://git.example.com:8443/app',
    'HTTPS://GIT.example.com/~user/app.git',
    'https://93.184.216.34/app.git',
  ]) {
    assert.deepEqual(parseRepositoryAddress(url, strict, [home]), { at: 'server', url: new URL(url) })
  }
})

test('reads addresses of the built-in host, which need not be public', () => {
  assert.deepEqual(parseRepositoryAddress('http://localhost:3000/git/hello.git', strict, [home]), {
    at: 'home',
    name: 'hello',
  })
  assert.deepEqual(parseRepositoryAddress('http://LOCALHOST:3000/git/hello.git/', strict, [home]), {
    at: 'home',
    name: 'hello',
  })
})

test('plain http and other ports are only for networks that the operator listed', () => {
  for (const url of ['http://10.1.0.1/a.git', 'https://10.1.0.1:3000/a.git', 'http://git.inside:3000/a.git']) {
    assert.equal(parseRepositoryAddress(url, lenient).at, 'server')
    assert.throws(() => parseRepositoryAddress(url, strict), { reason: 'address' })
  }
  assert.throws(() => parseRepositoryAddress('http://93.184.216.34/a.git', lenient), { reason: 'address' })
})

const refused = [
  'ext::sh -c touch% x',
  'EXT::sh',
  'transport::x',
  'https+ext::x',
  'ext::https://h/x',
  'file:///etc',
  '/srv/x',
  '../x',
  'C:\\x',
  '\\\\host\\share',
  '--upload-pack=touch x',
  '-cprotocol.ext.allow=always',
  '--config=x',
  'ssh://-oProxyCommand=x/x',
  'git@-oProxyCommand=x:x',
  'ssh://h/-x',
  'git://h/x',
  'ftp://h/x',
  'http://git.example.com/x',
  'javascript:alert(1)',
  'data:,x',
  'git.example.com/x',
  'git@host:o/r',
  'host:path',
  'git+ssh://h/x',
  'https://h/x\n',
  'https://h/x\r',
  'https://h/\tx',
  'https://h/\0x',
  'https://h/a b',
  'https://h/%0a',
  'https://h/%00',
  'https://h/%7f',
  'https://h。example/x',
  'https://h／x',
  `https://h/${'x'.repeat(4096)}`,
  'https://user:SECRET-CANARY@host/x',
  'https://user@host/x',
  'https://@host/x?',
  'https://h/x?y',
  'https://h/x#y',
  'https://h\\@127.0.0.1/x',
  'https://',
  'https:///x',
  'https://h',
  'https://h/',
  'https:h/x',
  'https:/h/x',
  'https://127.0.0.1/x',
  'https://0/x',
  'https://2130706433/x',
  'https://0x7f.1/x',
  'https://017700000001/x',
  'https://127.1/x',
  'https://localhost./x',
  'https://[::1]/x',
  'https://[::ffff:127.0.0.1]/x',
  'https://[::]/x',
  'https://169.254.169.254/x',
  'https://10.0.0.1/x',
  'https://100.64.0.1/x',
  'https://168.63.129.16/x',
  'https://[64:ff9b::a9fe:a9fe]/x',
  'https://[2002:7f00:1::]/x',
  'https://[fe80::1%lo]/x',
  'https://93.184.216.34:22/x',
  'http://localhost:3000/',
  'http://localhost:3000/git/',
  'http://localhost:3000/git/../x.git',
  'http://localhost:3000/git/a/b.git',
  'http://localhost:3000/git/A.git',
  'http://localhost:3000/git/..%2fx.git',
  'http://localhost:3000/api/x.git',
  '',
]
for (const url of refused) {
  test(`refuses ${JSON.stringify(url.slice(0, 60))}`, () => {
    assert.throws(
      () => parseRepositoryAddress(url, strict, [home]),
      (thrown) =>
        thrown instanceof GitError &&
        thrown.reason === 'address' &&
        /\.$/.test(thrown.message) &&
        !thrown.message.includes('CANARY'),
    )
  })
}
