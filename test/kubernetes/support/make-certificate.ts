import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { must } from '../cluster/commands.ts'

/** A certificate that signs itself, and its key, in PEM. */
export interface TestCertificate {
  readonly cert: string
  readonly key: string
}

/** Makes a certificate for these names. It may sign others. */
export async function makeCertificate(names: readonly string[]): Promise<TestCertificate> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-certificate-'))
  try {
    const [key, cert] = [join(folder, 'key'), join(folder, 'cert')]
    const usage = ['-days', '30', '-subj', '/CN=test', '-keyout', key, '-out', cert]
    const san = ['-addext', `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`]
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    await must('openssl', ['req', '-x509', ...kind, ...usage, ...san])
    return { cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
