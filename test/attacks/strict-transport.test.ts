import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPlatform } from '../support/platform.ts'

// When browsers must use HTTPS alone for the name of the platform (RFC 6797).

const secure = { QUAYSIDE_PUBLIC_URL: 'https://quayside.example.org' }
const tls = { ...secure, QUAYSIDE_ROUTER_TLS_PORT: '8443' }
const half = 'max-age=15552000'
const cases: readonly (readonly [string, Readonly<Record<string, string>>, string | null])[] = [
  ['a proxy that ends HTTPS', secure, half],
  ['HTTPS of the router', tls, half],
  ['an authority of the installation', { ...tls, QUAYSIDE_ACME_DIRECTORY: 'local' }, null],
  ['plain HTTP', {}, null],
]

for (const [what, settings, wanted] of cases) {
  test(`every answer says that HTTPS is the only way, or none: ${what}`, async (t) => {
    const platform = await createPlatform({ after: (end) => t.after(end) }, { settings })
    const origin = await platform.listen()
    for (const path of ['/', '/organization', '/nothing', '/oidc/device', '/setup/x', '/oidc/nothing', '/git/x.git']) {
      const { headers } = await fetch(origin + path, { redirect: 'manual' })
      assert.equal(headers.get('strict-transport-security'), wanted, path)
    }
  })
}
