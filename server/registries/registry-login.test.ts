import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sql } from '../database/index.ts'
import { AddressError } from '../lib/address.ts'
import { AppError } from '../lib/error.ts'
import { createRegistryLogin } from './registry-login.ts'

// The registry is opened by a function of the test: no query is sent.
const sql = undefined as unknown as Sql
const { signal } = new AbortController()
const opened = { kind: 'GENERIC_CR', name: 'Own', url: 'oci://registry.example.org', config: { username: 'me' } }

/** A login that asks for the host of this registry; `check` answers for its address. */
function logging(check: (host: string) => Promise<void>, password?: string) {
  const asked: string[] = []
  const guard = {
    check: async (host: string) => {
      asked.push(host)
      await check(host)
      return []
    },
  }
  const secrets = password === undefined ? {} : { password }
  const login = createRegistryLogin({ guard, open: async () => ({ ...opened, secrets }) })
  return { asked, login: () => login(sql, 'organization', 'registry', signal) }
}

test('a registry is entered with its user name and password, after its host was checked', async () => {
  const { asked, login } = logging(async () => {}, 'hidden')
  const found = await login()
  assert.equal(found?.username, 'me')
  assert.equal(found?.password.reveal(), 'hidden')
  assert.deepEqual(asked, ['registry.example.org'])
})

test('a registry at a refused address is not entered, and the reason names it', async () => {
  const { login } = logging(() => Promise.reject(new AddressError('refused', 'it is private')), 'hidden')
  await assert.rejects(login, (error) => error instanceof AppError && /"Own" is not asked/.test(error.message))
})

test('a name that DNS does not know is left to the engine', async () => {
  const { login } = logging(() => Promise.reject(new Error('no such name')))
  assert.equal(await login(), undefined)
})
