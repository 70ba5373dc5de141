import assert from 'node:assert/strict'
import test from 'node:test'
import { refusedName } from './launch.ts'

const names = ['first.test.pem', 'bad.test.pem']
const notice = '[NOTICE]   (5) : path to executable is /usr/sbin/haproxy'
const fatal = '[ALERT]    (5) : config : Fatal errors found in configuration.'

test('the certificate that HAProxy refuses is found in messages of one line and of several', () => {
  const line =
    "[ALERT]    (5) : config : parsing [a.cfg:9] : 'crt-list' : No Private Key found in '/keys/bad.test.pem'."
  const since3 =
    "[ALERT]    (5) : config : parsing [a.cfg:9] : 'bind 127.0.0.1:443' in section 'frontend' :\n" +
    "  'crt-list' : error processing line 2 in file '/keys/list' : No Private Key found in '/keys/bad.test.pem'.\n" +
    "  unable to load SSL private key into SSL Context '/keys/bad.test.pem': passed a null parameter."
  for (const said of [line, since3]) assert.equal(refusedName([notice, said, fatal, ''].join('\n'), names), names[1])
})

test('a warning about a certificate, and a failure of something else, refuse none', () => {
  const warning = "[WARNING]  (5) : config : 'crt-list' :\n  '/keys/first.test.pem' has no issuer."
  for (const said of [warning, fatal, '', '  /bad.test.pem']) assert.equal(refusedName(said, names), undefined)
})
