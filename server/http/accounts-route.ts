import type { FastifyInstance } from 'fastify'
import { type Accounts, issuerPath, joinPath, setupPath } from '../accounts/index.ts'
import { budgetSpent } from '../lib/error.ts'
import type { Budgets } from './budgets.ts'

/** The part of server/accounts that these routes use. */
export interface AccountsRouteOptions {
  readonly budgets: Budgets
  readonly accounts: Pick<Accounts, 'handle'>
}

/**
 * Mounts the pages for sign-in and sign-up and the OpenID Connect issuer. They read and answer
 * their requests themselves.
 */
export function mountAccounts(app: FastifyInstance, { accounts, budgets }: AccountsRouteOptions): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    for (const path of [issuerPath, setupPath, joinPath]) {
      scope.route({
        method: path === issuerPath ? ['GET', 'POST', 'OPTIONS'] : ['GET', 'POST'],
        url: `${path}*`,
        exposeHeadRoute: false,
        handler: async (request, reply) => {
          const { allowed, resetSeconds } = budgets.take(undefined, request.raw)
          if (!allowed) throw budgetSpent(resetSeconds)
          try {
            const address = budgets.addressOf(request.raw)
            await accounts.handle({ request: request.raw, response: reply.raw, address })
          } catch (error) {
            if (!reply.raw.headersSent) throw error
            reply.raw.destroy()
          }
          reply.hijack()
        },
      })
    }
  })
}
