import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { asCurl, type RecordedRequest } from './as-curl.ts'

// Somebody pastes a command into bash. Texts of others in it stay texts.

interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly token: string | undefined
  readonly body: string
}

/** Each of them would create the file `canary`, end the command or change its words. */
const hostile: readonly string[] = [
  ...["it's", `'; touch canary; '`, `"; touch canary; "`, '$(touch canary)', '`touch canary`', `$HOME \${HOME} $((`],
  ...[
    '\\',
    "\\'; touch canary #",
    "'\\''; touch canary; '\\''",
    '\n touch canary\n',
    '\r\ntouch canary\r\n',
    '\ttouch',
  ],
  ...[
    '!touch',
    "it's\n!touch canary\n!!",
    '!$ !* ^a^b^',
    '@/etc/passwd',
    '--output canary',
    '-o canary',
    '{a,b} [1-3] *',
  ],
  ...[
    '\u001b[201~touch canary\n',
    '\u0003touch canary\n',
    '\u202etouch canary',
    '<secret> & touch canary',
    '# | > canary',
  ],
]
const received: Received[] = []
let server: Server
let place: string
let origin: string

before(async () => {
  place = await mkdtemp(join(tmpdir(), 'quayside-bash-'))
  server = createServer(async (request, response) => {
    const { method, url, headers } = request
    received.push({ method, url, token: headers.authorization, body: await text(request) })
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(async () => {
  server.close()
  await rm(place, { recursive: true })
})

/** Gives commands to a bash as lines, as a paste does. Returns its exit code. */
async function paste(args: readonly string[], lines: string): Promise<unknown> {
  const env = { PATH: process.env['PATH'] ?? '', QUAYSIDE_TOKEN: 'of the shell', HISTFILE: '' }
  const bash = spawn('bash', ['--norc', '--noprofile', ...args], {
    cwd: place,
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  bash.stdin.end(lines)
  const [code] = await once(bash, 'exit')
  return code
}

const requestWith = (hidden: string): RecordedRequest => ({
  method: 'POST',
  url: `${origin}/project?${new URLSearchParams({ name: hidden })}`,
  contentType: 'application/json',
  body: JSON.stringify({ name: hidden, [hidden]: [hidden, { value: hidden }] }),
})

for (const [kind, args] of Object.entries({ 'a script': [], 'a prompt, which knows its history': ['-i'] })) {
  test(`bash sends exactly the request that is shown, as ${kind}`, { timeout: 120_000 }, async () => {
    received.length = 0
    const requests = hostile.map(requestWith)
    const ended = await paste(args, `set -e\n${args.length > 0 ? 'set -H\n' : ''}${asCurl(requests)}\nexit 7\n`)
    assert.equal(ended, 7)
    assert.deepEqual(
      received.map(({ body, ...one }) => ({ ...one, body: JSON.parse(body) })),
      requests.map(({ method, url, body = '' }) => ({
        ...{ method, url: url.slice(origin.length), token: 'Bearer of the shell' },
        body: JSON.parse(body),
      })),
    )
    assert.deepEqual(await readdir(place), [])
  })
}

test('an address with brackets is one address', { timeout: 60_000 }, async () => {
  received.length = 0
  const url = `${origin}/project/{a,b}?name=[1-3]'`
  assert.equal(await paste([], `${asCurl([{ ...requestWith('a'), url, body: undefined }])}\n`), 0)
  assert.deepEqual(
    received.map((one) => one.url),
    [url.slice(origin.length)],
  )
})
