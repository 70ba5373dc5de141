import assert from 'node:assert/strict'
import test from 'node:test'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { beds, portOf, testBed, textOf, untilClosed } from '../test-bed.ts'

const skip = (await missingHaproxy()) ?? false
const hidden = 'GET /hidden HTTP/1.1\r\nHost: app.localhost\r\n\r\n'
const length = hidden.length

/** Heads that programs read differently, each with a request hidden in its body. */
const attacks: Readonly<Record<string, string>> = {
  'two codings': 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'length and coding': `Content-Length: ${length + 5}\r\nTransfer-Encoding: chunked`,
  'coding and length': `Transfer-Encoding: chunked\r\nContent-Length: ${length + 5}`,
  'an unknown coding': 'Transfer-Encoding: xchunked',
  'a coding with a tab': 'Transfer-Encoding:\tchunked',
  'a space before the colon': 'Transfer-Encoding : chunked',
  'a folded coding': 'Transfer-Encoding:\r\n chunked',
  'two lengths': `Content-Length: 5\r\nContent-Length: ${length + 5}`,
  'a length in a list': `Content-Length: 5, ${length + 5}`,
  'a length with a sign': `Content-Length: +${length + 5}`,
  'a length with an underscore': `Content_Length: ${length + 5}`,
  'a bare line feed': `X-A: b\nContent-Length: ${length + 5}`,
  'a bare carriage return': `X-A: b\rContent-Length: ${length + 5}`,
}

for (const method of ['GET', 'POST']) {
  test(`no request is hidden in the body of a ${method} through HAProxy`, { skip }, async (t) => {
    beds.haproxy = haproxy
    const bed = await testBed(t)
    const seen: string[] = []
    const app = await bed.application((request, response) => {
      textOf(request).then(
        (body) => {
          seen.push(`${request.method} ${request.url} ${body.includes('/hidden') ? 'whole' : ''}`)
          response.end('ok')
        },
        () => response.destroy(),
      )
    })
    const rules = { maxBodyBytes: 10_000, readTimeoutMs: 60_000, sendTimeoutMs: 60_000, clientTimeoutMs: 60_000 }
    await bed.lead([portOf(app)], { rules })
    for (const [name, head] of Object.entries(attacks)) {
      seen.length = 0
      const start = `${method} /shown HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\n${head}\r\n\r\n`
      const socket = bed.raw(`${start}0\r\n\r\n${hidden}`)
      socket.end()
      await untilClosed(socket)
      // A second client must not get the answer of a hidden request.
      assert.equal((await bed.ask({ path: '/second' })).body, 'ok', name)
      assert.ok(!seen.some((one) => one.includes(' /hidden ')), `${name}: ${seen}`)
      assert.ok(seen.filter((one) => one.includes('/shown')).length <= 1, `${name}: ${seen}`)
    }
  })
}
