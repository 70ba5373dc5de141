import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run, start } from '../../../server/lib/run.ts'
import { findFreePort } from '../free-port.ts'
import { haproxy, missingHaproxy } from '../haproxy.ts'
import { until } from '../until.ts'

/** Returns why tests with HAProxy's QUIC are skipped. Undefined if this machine's has it. */
export async function missingQuic(): Promise<string | undefined> {
  const missing = await missingHaproxy()
  if (missing !== undefined) return missing
  const { stdout } = await run(haproxy, ['-vv'], { timeoutMs: 10_000 })
  return stdout.includes('+QUIC') ? undefined : 'this HAProxy has no QUIC (QUAYSIDE_TEST_HAPROXY can be another)'
}

/** Returns why tests with early data are skipped. HAProxy needs an OpenSSL with QUIC for that. */
export async function missingEarlyData(): Promise<string | undefined> {
  const { stdout } = await run(haproxy, ['-vv'], { timeoutMs: 10_000 })
  return stdout.includes('+QUIC_OPENSSL_COMPAT') ? 'this HAProxy has no early data over QUIC' : undefined
}

/**
 * Returns why tests with 1xx answers are skipped. HAProxy before 3.2.7 takes them for the whole
 * answer over HTTP/3, and 3.0.11 ends with "bug condition" at the answer that follows.
 */
export async function missingEarlyAnswers(): Promise<string | undefined> {
  const { stdout } = await run(haproxy, ['-v'], { timeoutMs: 10_000 })
  const [, version = '0'] = /version (\d+\.\d+\.\d+)/.exec(stdout.toString()) ?? []
  const isFixed = version.localeCompare('3.2.7', 'en', { numeric: true }) >= 0
  return isFixed ? undefined : `HAProxy ${version} cannot send 1xx answers over HTTP/3`
}

export interface PlainFront {
  readonly port: number
  /** Everything that it printed. */
  readonly output: readonly string[]
}

/** Starts HAProxy with nothing but HTTP/3 in front of an application. It ends with the test. */
export async function startPlainFront(
  t: { after(work: () => Promise<void>): void },
  options: { readonly application: number; readonly certificate: string; readonly allowsEarlyData?: boolean },
): Promise<PlainFront> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-http3-'))
  const [port, certificateFile, file] = [await findFreePort(), join(folder, 'own.pem'), join(folder, 'haproxy.cfg')]
  await writeFile(certificateFile, options.certificate)
  await writeFile(file, configuration({ ...options, port, certificateFile }))
  const output: string[] = []
  const child = start(haproxy, ['-db', '-f', file], {})
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => output.push(String(chunk)))
  t.after(async () => {
    child.kill('SIGKILL')
    await until('HAProxy is gone', () => child.exitCode !== null || child.signalCode !== null)
    await rm(folder, { recursive: true })
  })
  await until('HAProxy answers', () => answers(port), { seen: () => output })
  return { port, output }
}

interface FrontSettings {
  readonly port: number
  readonly application: number
  readonly certificateFile: string
  readonly allowsEarlyData?: boolean
}

/** It also listens on TCP, to show that it is ready. Early data is refused by default. */
const configuration = (of: FrontSettings): string => `global
  limited-quic
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  timeout http-request 5s
frontend front
  bind 127.0.0.1:${of.port}
  bind quic4@127.0.0.1:${of.port} ssl crt ${of.certificateFile} alpn h3 ${of.allowsEarlyData ? 'allow-0rtt' : ''}
  http-request return status 204 if { path /-/ready }
  default_backend application
backend application
  server application 127.0.0.1:${of.application}
`

function answers(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  get({ host: '127.0.0.1', port, path: '/-/ready', agent: false }, (answer) => {
    answer.resume().on('end', () => resolve(true))
  }).on('error', () => resolve(false))
  return promise
}
