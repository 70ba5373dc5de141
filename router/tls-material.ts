import {
  type AcmeChallenge,
  challengeKinds,
  type PlatformDoor,
  type TlsCertificate,
  type TlsMaterial,
} from '@quayside/contract/routes.ts'
import { record } from './record.ts'

/** Certificates with the mark by which the control plane knows them. */
export interface MarkedMaterial extends TlsMaterial {
  readonly mark: string
}

/** Reads certificates from untrusted data. Throws an Error that names the invalid field. */
export function parseTlsMaterial(value: unknown): MarkedMaterial {
  const { certificates, challenges, door, ticketKey, mark } = record(value, 'the request')
  return {
    mark: text(mark, 'mark'),
    ...(door !== undefined && { door: parseDoor(door) }),
    ...(ticketKey !== undefined && { ticketKey: parseTicketKey(ticketKey) }),
    certificates: list(certificates, 'certificates').map((one, index): TlsCertificate => {
      const where = `certificates[${index}]`
      const { host, chain, key } = record(one, where)
      return { host: text(host, `${where}.host`), chain: text(chain, `${where}.chain`), key: text(key, `${where}.key`) }
    }),
    challenges: list(challenges, 'challenges').map((one, index): AcmeChallenge => {
      const where = `challenges[${index}]`
      const { kind, host, token, answer } = record(one, where)
      const known = challengeKinds.find((name) => name === kind)
      if (!known) throw new Error(`${where}.kind: an unknown kind`)
      return {
        kind: known,
        host: text(host, `${where}.host`),
        token: text(token, `${where}.token`),
        answer: text(answer, `${where}.answer`),
      }
    }),
  }
}

function parseTicketKey(value: unknown): string {
  const key = text(value, 'ticketKey')
  if (Buffer.from(key, 'base64').length !== 48) throw new Error('ticketKey: 48 bytes are expected')
  return key
}

function parseDoor(value: unknown): PlatformDoor {
  const { service, secret } = record(value, 'door')
  return { service: text(service, 'door.service'), secret: text(secret, 'door.secret') }
}

function list(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${where}: a list is expected`)
  return value
}

function text(value: unknown, where: string): string {
  if (typeof value !== 'string') throw new Error(`${where}: a string is expected`)
  return value
}
