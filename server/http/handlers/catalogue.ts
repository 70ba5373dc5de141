import {
  listDatabaseInstanceTypes,
  listDatabaseTypes,
  listFeatures,
  listInstanceTypes,
  listProviders,
  listRegions,
} from '../../clusters/index.ts'
import { notFound } from '../../lib/error.ts'
import type { Handlers } from '../call.ts'
import type { Rooms } from './rooms.ts'

/** Handlers for fixed tables, and for lists that are always empty here. */
export const catalogueHandlers = ({ clock }: Rooms) =>
  ({
    listProviders: async () => ({ results: listProviders() }),
    listRegions: async ({ provider }) => ({ results: listRegions(provider) }),
    listFeatures: async ({ provider }) => ({ results: listFeatures(provider) }),
    listInstanceTypes: async ({ provider }) => ({ results: listInstanceTypes(provider, undefined) }),
    listInstanceTypesIn: async ({ provider, words }) => ({
      results: listInstanceTypes(provider, words['region'] ?? words['zone']),
    }),
    searchInstanceTypes: async ({ provider, words, query }) => ({
      results: listInstanceTypes(provider, words['region'], query),
    }),
    listDatabaseTypes: async ({ provider }) => ({ results: listDatabaseTypes(provider) }),
    listDatabaseInstanceTypes: async ({ words }) => ({
      results: listDatabaseInstanceTypes(words['region'] ?? '', words['databaseType'] ?? ''),
    }),

    listNothing: async () => ({ results: [] }),
    getCurrentCost: async ({ target }) => ({
      plan: target.plan,
      remaining_trial_day: 0,
      renewal_at: null,
      cost: { total_in_cents: 0, total: 0, currency_code: 'USD' },
    }),
    getOnboarding: async () => ({ use_cases: null, status: 'COMPLETED' }),
    getBlueprints: async () => ({ version: '1', generatedAt: clock.now().toISOString(), blueprints: [] }),
    listExternalSecrets: async ({ ids }) => {
      throw notFound('secret manager access', ids[0])
    },
  }) satisfies Partial<Handlers>
