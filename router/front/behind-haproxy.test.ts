import test from 'node:test'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { beds } from '../test-bed.ts'

// The tests of the router itself, with HAProxy in front of it.
const missing = await missingHaproxy()
if (missing) test('the tests of the router behind HAProxy', { skip: missing })
else {
  beds.haproxy = haproxy
  await import('../passing.test.ts')
  await import('../swapping.test.ts')
  await import('../waiting.test.ts')
  await import('../streaming.test.ts')
  await import('../chaos.test.ts')
  await import('../places.test.ts')
  await import('../control-server.test.ts')
  await import('../tls.test.ts')
  await import('../http2-attacks.test.ts')
  await import('../request-trailers.test.ts')
  await import('../stream-upgrade.test.ts')
  await import('../access-lines.test.ts')
  await import('../answer-attacks.test.ts')
  await import('../endpoint-attacks.test.ts')
  await import('../behind-proxies.test.ts')
  await import('../both-families.test.ts')
  await import('../grpc.test.ts')
  await import('../door.test.ts')
  await import('../canaries.test.ts')
  await import('../canary-clients.test.ts')
  await import('../canary-latency.test.ts')
  await import('../public-ports.test.ts')
  await import('../sign-in.test.ts')
  await import('../sign-in-tls.test.ts')
  await import('../rules.test.ts')
  await import('../passwords.test.ts')
  await import('../password-attacks.test.ts')
  await import('../visitor-rules.test.ts')
  await import('../compressing.test.ts')
}
