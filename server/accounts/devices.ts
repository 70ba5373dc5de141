import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { parseId } from '../lib/id.ts'
import { cookiesOf } from './cookies-of.ts'

export interface DevicesOptions {
  readonly publicUrl: string
  readonly pepper: Buffer
}
export type Devices = ReturnType<typeof createDevices>

/** A browser in which an account signed in before. */
export interface Device {
  readonly id: string
  readonly account: string
}

const deviceSeconds = 180 * 24 * 3600
/** One browser remembers so many accounts. */
const mostAccounts = 4
const form = /^([\w-]{22})\.([0-9a-f-]{36})\.(\d{10})\.([\w-]{43})$/

/**
 * Remembers the browsers in which accounts signed in, by a cookie. Such a browser has a count of
 * wrong passwords of its own, so failures elsewhere do not keep its person out. It proves nothing
 * else: the password is still needed.
 */
export function createDevices({ publicUrl, pepper }: DevicesOptions) {
  const isSecure = publicUrl.startsWith('https:')
  const name = `${isSecure ? '__Host-' : ''}quayside-device`
  const sign = (text: string): string => createHmac('sha256', pepper).update(`device\n${text}`).digest('base64url')

  function read(token: string, now: Date): Device | undefined {
    const [, id = '', account = '', since = '', mac = ''] = form.exec(token) ?? []
    if (id === '' || parseId(account) === undefined) return undefined
    if (now.getTime() / 1000 - Number(since) > deviceSeconds) return undefined
    return timingSafeEqual(Buffer.from(mac), Buffer.from(sign(`${id}.${account}.${since}`)))
      ? { id, account }
      : undefined
  }

  /** The valid tokens of a request, each with its account. */
  const tokensOf = (header: string | undefined, now: Date) =>
    cookiesOf(header, name)
      .flatMap((value) => value.split('~', mostAccounts))
      .flatMap((token) => {
        const device = read(token, now)
        return device ? [{ token, device }] : []
      })

  return {
    /** Returns the accounts that signed in before in the browser of a request. */
    of: (header: string | undefined, now: Date): readonly Device[] => tokensOf(header, now).map(({ device }) => device),

    /** Returns the `Set-Cookie` header that also remembers this account. */
    remember(header: string | undefined, account: string, now: Date): string {
      const tokens = tokensOf(header, now)
      const id =
        tokens.find(({ device }) => device.account === account)?.device.id ?? randomBytes(16).toString('base64url')
      const content = `${id}.${account}.${Math.floor(now.getTime() / 1000)}`
      const others = tokens.filter(({ device }) => device.account !== account).map(({ token }) => token)
      const value = [`${content}.${sign(content)}`, ...others].slice(0, mostAccounts).join('~')
      return `${name}=${value}; Path=/; Max-Age=${deviceSeconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
    },
  }
}
