import { createPrivateKey, KeyObject, randomBytes, webcrypto } from 'node:crypto'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import type { Clock } from '../lib/clock.ts'
import { Secret } from '../lib/secret.ts'
import type { Account, Authority, Issued } from './authority.ts'

export interface LocalAuthorityOptions {
  readonly clock: Pick<Clock, 'now'>
  /** Puts the root where people find it, in PEM format. May be called again. */
  readonly publishRoot: (root: string) => Promise<void>
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const dayMs = 86_400_000
const rootMs = 3650 * dayMs
/** Browsers refuse certificates of a longer life than 398 days. */
const certificateMs = 90 * dayMs
/** Clocks of clients may be late. */
const lateMs = 3_600_000

cryptoProvider.set(webcrypto)

/**
 * Creates the authority of an installation without names of the public DNS. Its account is its
 * root. It asks hosts nothing, because only hosts of the route table are ordered.
 */
export function createLocalAuthority({ clock, publishRoot }: LocalAuthorityOptions): Authority {
  return {
    register: async () => {
      const account = await createRoot(clock.now())
      await publishRoot(account.root)
      return account
    },
    order: async ({ root = '', key }, { host }) => {
      await publishRoot(root)
      return issue({ root: new X509Certificate(root), key, host, now: clock.now() })
    },
  }
}

async function createRoot(now: Date): Promise<Account & { readonly root: string }> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const serialNumber = newSerial()
  const root = await X509CertificateGenerator.createSelfSigned({
    serialNumber,
    name: `CN=Quayside ${serialNumber.slice(-8)}`,
    notBefore: new Date(now.getTime() - lateMs),
    notAfter: new Date(now.getTime() + rootMs),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { url: 'local', key: pemOf(keys.privateKey), root: root.toString('pem') }
}

interface Order {
  readonly root: X509Certificate
  readonly key: Secret
  readonly host: string
  readonly now: Date
}

async function issue({ root, key, host, now }: Order): Promise<Issued> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const notBefore = new Date(now.getTime() - lateMs)
  const notAfter = new Date(Math.min(now.getTime() + certificateMs, root.notAfter.getTime()))
  const leaf = await X509CertificateGenerator.create({
    serialNumber: newSerial(),
    issuer: root.subject,
    notBefore,
    notAfter,
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: createPrivateKey(key.reveal()).toCryptoKey(algorithm, false, ['sign']),
    extensions: await leafExtensions(root, keys.publicKey, host),
  })
  return { chain: leaf.toString('pem'), key: pemOf(keys.privateKey), notBefore, notAfter }
}

const leafExtensions = async (
  root: X509Certificate,
  publicKey: webcrypto.CryptoKey,
  host: string,
): Promise<Extension[]> => [
  new BasicConstraintsExtension(false, undefined, true),
  new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
  new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
  new SubjectAlternativeNameExtension([{ type: 'dns', value: host }]),
  await SubjectKeyIdentifierExtension.create(publicKey),
  await AuthorityKeyIdentifierExtension.create(root.publicKey),
]

const pemOf = (key: webcrypto.CryptoKey): Secret =>
  new Secret(String(KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' })))

/** A positive number of 127 random bits. */
function newSerial(): string {
  const bytes = randomBytes(16)
  bytes.writeUInt8(bytes.readUInt8(0) & 0x7f, 0)
  return bytes.toString('hex')
}
