import type { Socket } from 'node:net'
import { plainAddress } from '@quayside/contract/forwarded.ts'

/** The address of the other end of a connection, in its short spelling. */
export const addressOf = ({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): string =>
  plainAddress(remoteAddress) ?? '0.0.0.0'
