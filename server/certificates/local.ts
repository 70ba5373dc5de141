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
import { joined, needsNext, partsOf, pemsIn, type Root, signerOf } from './local-roots.ts'

export interface LocalAuthorityOptions {
  readonly clock: Pick<Clock, 'now'>
  /**
   * Puts the roots where people find them, in PEM format. `next` is the one that follows, alone,
   * once it was made. May be called again.
   */
  readonly publishRoot: (roots: string, next: string | undefined) => Promise<void>
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
 * Creates the authority of an installation without names of the public DNS. Its account has its
 * roots. It asks hosts nothing, because only hosts of the route table are ordered.
 */
export function createLocalAuthority({ clock, publishRoot }: LocalAuthorityOptions): Authority {
  const publish = (root: string, roots: readonly unknown[]): Promise<void> =>
    publishRoot(root, roots.length > 1 ? pemsIn(root).at(-1) : undefined)
  const withNext = async (roots: readonly Root[]): Promise<Account> => {
    const all = [...roots, await createRoot(clock.now())]
    const { root, key } = joined(all)
    await publish(root, all)
    return { url: 'local', root, key: new Secret(key) }
  }
  return {
    register: () => withNext([]),
    renewed: async (account) => {
      const roots = rootsOf(account)
      return needsNext(roots, clock.now()) ? withNext(roots) : undefined
    },
    order: async (account, { host }) => {
      const [roots, now] = [rootsOf(account), clock.now()]
      await publish(account.root ?? '', roots)
      const signer = signerOf(roots, now)
      if (!signer) throw new Error('the authority of this installation has no root')
      return issue({ root: new X509Certificate(signer.root), key: new Secret(signer.key), host, now })
    },
  }
}

const rootsOf = (account: Account): readonly Root[] =>
  partsOf(account).map(([root, key]) => {
    const { notBefore, notAfter } = new X509Certificate(root)
    return { root, key, notBefore, notAfter }
  })

async function createRoot(now: Date): Promise<Root> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const serialNumber = newSerial()
  const notBefore = new Date(now.getTime() - lateMs)
  const notAfter = new Date(now.getTime() + rootMs)
  const root = await X509CertificateGenerator.createSelfSigned({
    serialNumber,
    name: `CN=Quayside ${serialNumber.slice(-8)}`,
    notBefore,
    notAfter,
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { root: root.toString('pem'), key: pemOf(keys.privateKey).reveal(), notBefore, notAfter }
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
