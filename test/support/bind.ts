import { Resolver } from 'node:dns/promises'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from '../../server/lib/run.ts'
import { findProgram } from './find-program.ts'
import { findFreePort } from './free-port.ts'
import { until } from './until.ts'

/** BIND on the loopback device, with one zone that a key may change. */
export interface Bind {
  /** `address:port` */
  readonly address: string
  /** The file with the key. */
  readonly keyFile: string
  /** The program `nsupdate`. */
  readonly nsupdate: string
  /** Returns the texts of a name. Empty if there are none. */
  texts(name: string): Promise<readonly string[]>
  /** Everything that it printed. */
  readonly output: readonly string[]
}

/** Returns why tests with BIND are skipped, or false if they can run. */
export async function whyNoBind(): Promise<string | false> {
  if ((await findProgram('named')) && (await findProgram('nsupdate'))) return false
  return 'BIND is not installed: apt-get install bind9 bind9-dnsutils, or let npm test fetch it'
}

const key = 'key "platform" { algorithm hmac-sha256; secret "2J5bJcWiyIFdRnPDBCkLEvzkfjOcZr4ZAFWvTq2Hk0A="; };\n'

/**
 * Starts BIND with a zone and some records in it. All other names lead to the loopback address. It
 * ends with the test.
 */
export async function startBind(
  t: { after(work: () => Promise<void>): void },
  zone: string,
  records: readonly string[] = [],
): Promise<Bind> {
  const [program, nsupdate] = await Promise.all(['named', 'nsupdate'].map(findProgram))
  if (!program || !nsupdate) throw new Error(`${await whyNoBind()}`)
  const folder = await mkdtemp(join(tmpdir(), 'quayside-bind-'))
  const port = await findFreePort()
  const keyFile = join(folder, 'platform.key')
  await mkdir(join(folder, 'zones'))
  await writeFile(keyFile, key, { mode: 0o600 })
  await writeFile(
    join(folder, 'zones', 'zone'),
    [
      '$TTL 60',
      `@ IN SOA ns.${zone}. admin.${zone}. 1 3600 600 86400 60`,
      `@ IN NS ns.${zone}.`,
      'ns IN A 127.0.0.1',
      '* IN A 127.0.0.1',
      ...records,
      '',
    ].join('\n'),
  )
  await writeFile(
    join(folder, 'named.conf'),
    `${key}
options {
  directory "${folder}/zones"; pid-file none; session-keyfile none; listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; }; recursion no; dnssec-validation no; allow-transfer { none; };
};
controls { };
zone "${zone}" { type primary; file "zone"; update-policy { grant platform subdomain ${zone}. TXT; }; };
`,
  )
  const output: string[] = []
  const child = start(program, ['-g', '-c', join(folder, 'named.conf')], {})
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => output.push(String(chunk)))
  t.after(async () => {
    child.kill('SIGKILL')
    await until('BIND is gone', () => child.exitCode !== null || child.signalCode !== null)
    await rm(folder, { recursive: true })
  })
  const resolver = new Resolver({ timeout: 1000, tries: 1 })
  resolver.setServers([`127.0.0.1:${port}`])
  const isUp = () => resolver.resolve4(`ns.${zone}`).then(Boolean, () => false)
  await until('BIND answers', isUp, { seen: () => output })
  return {
    address: `127.0.0.1:${port}`,
    keyFile,
    nsupdate,
    output,
    texts: (name) =>
      resolver.resolveTxt(name).then(
        (all) => all.map((chunks) => chunks.join('')),
        () => [],
      ),
  }
}
