import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { findFreePort } from '../../test/support/free-port.ts'
import { startNameServer } from '../../test/support/name-server.ts'
import { providePebble } from '../../test/support/pebble/build.ts'
import { startPebble } from '../../test/support/pebble/pebble.ts'
import { startPebbleProxy } from '../../test/support/pebble/proxy.ts'
import { createAcmeAuthority } from './acme.ts'
import { RefusedError } from './authority.ts'

// Let's Encrypt's test server behind a proxy that exchanges the certificates that it issues.

const { signal } = new AbortController()
const files = await providePebble()
const skip = files ? false : 'this machine has no Go'
const names = await startNameServer({ after })
if (files) setDefaultCACertificates([...getCACertificates('default'), await readFile(files.serverRoot, 'utf8')])

/** Orders certificates at an authority whose chains pass `change`. */
async function openBench(t: TestContext) {
  const env = { PEBBLE_VA_ALWAYS_VALID: '1' }
  const pebble = await startPebble(t, { nameServer: names.address, httpPort: await findFreePort(), env })
  assert.ok(pebble)
  let change = (chain: string): string => chain
  const { directory } = await startPebbleProxy(t, { directory: pebble.directory, change: (chain) => change(chain) })
  const authority = createAcmeAuthority({ directory })
  const account = await authority.register(signal)
  return (host: string, exchange = change) => {
    change = exchange
    return authority.order(account, { host, kind: 'http-01' }, async () => {}, signal)
  }
}

test('a certificate that the router could not serve is refused with the reason', { skip }, async (t) => {
  const order = await openBench(t)
  const { chain: other } = await order('other.lab.test')
  const refused: readonly (readonly [(chain: string) => string, RegExp])[] = [
    [() => other, /another key/],
    [() => '', /no certificate/],
    [() => '<html>sign in</html>', /no certificate/],
    [(chain) => chain.replace('MII', 'MIJ'), /cannot be read/],
    [(chain) => chain.repeat(20), /more than 10 certificates/],
  ]
  for (const [exchange, reason] of refused) {
    await assert.rejects(order('shop.lab.test', exchange), (error: Error) => {
      return error instanceof RefusedError && reason.test(error.message) && /authority sent/.test(error.message)
    })
  }
})

test('text beside the certificates of an authority is dropped', { skip }, async (t) => {
  const order = await openBench(t)
  const noise = 'Bag Attributes\r\n\r\nset server x\n'
  const { chain } = await order('shop.lab.test', (text) => `${noise}${text.replaceAll('\n', '\r\n')}${noise}`)
  assert.match(chain, /^(-----BEGIN CERTIFICATE-----\n([\w+/=]+\n)+-----END CERTIFICATE-----\n){2,}$/)
})
