import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import test from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { block, types } from '../test/support/http2-frames.ts'
import { padded, type RawRequest, response, startRawHttp2 } from '../test/support/raw-http2-server.ts'
import { until } from '../test/support/until.ts'
import { testBed } from './test-bed.ts'

// Applications that speak HTTP/2 and answer with frames that no library sends.

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

test('an application cannot end the router with headers without an end', async (t) => {
  const bed = await testBed(t)
  const opened: RawRequest[] = []
  const { port } = await startRawHttp2(t, {
    answer: (request) => {
      const { stream, path, send } = request
      if (path === '/open') opened.push(request)
      else if (path === '/next') send(...response(stream, 'next'))
      else {
        send({ type: types.headers, stream, payload: block([[':status', '200']]) })
        const filler = () => block([['x-a', 'b'.repeat(1_000)]])
        // The garbage collector runs meanwhile.
        for (let sent = 0; sent < 2_000; sent++) send({ type: types.continuation, stream, payload: filler() })
      }
    },
  })
  await bed.lead([port], { speaksHttp2: true })
  const ask = (path: string, method = 'GET') => bed.ask({ path: padded(path), method, agent: new Agent() })
  for (let count = 0; count < 12; count++) {
    opened.length = 0
    const other = ask('/open', 'POST')
    await until('another request is open', () => opened.length > 0)
    const [attacked, broken] = await Promise.all([ask('/attack', 'POST'), other])
    assert.deepEqual([attacked.status, broken.status], [502, 502])
    collect()
  }
  assert.equal((await ask('/next')).body, 'next')
})
